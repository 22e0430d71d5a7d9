package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/vms"
)

func look(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// TestTheDataFolderGoes under a running service: moved away, and put back; then deleted.
func TestTheDataFolderGoes(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "A", "--quiet")
	token := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	status, body := look(t, p.base+"/readyz")
	require.Equal(t, 200, status, body)
	require.Equal(t, "ok\n", body)
	c := clientOf(t, p.base, token)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam"}}}))
	post := func(n int) error { return c.Report(t.Context(), motion(account, "cam", n)) }
	require.NoError(t, post(1))
	require.NoError(t, os.Rename(data, data+"-moved"))
	require.ErrorContains(t, post(2), "503", "nothing is acknowledged")
	status, body = look(t, p.base+"/readyz")
	require.Equal(t, 503, status)
	require.Contains(t, body, "moved away or deleted")
	_, body = look(t, p.base+"/healthz")
	require.Contains(t, body, "degraded")
	require.Eventually(t, func() bool { return bytes.Contains([]byte(p.logged()), []byte("files are gone")) },
		5*time.Second, 10*time.Millisecond)
	require.NoError(t, os.Rename(data+"-moved", data))
	status, body = look(t, p.base+"/readyz")
	require.Equal(t, 200, status, body)
	require.NoError(t, post(3))
	require.NoError(t, os.RemoveAll(data))
	require.ErrorContains(t, post(4), "503")
	p.stop()
}

// A disk without a free inode: that is told, and events are stored.
func TestADiskWithoutRoomForAFile(t *testing.T) {
	t.Parallel()
	disk := vfstest.FewFiles(t, 64<<20, 40)
	data := filepath.Join(disk, "data")
	account := must(t, "init", "--data", data, "--account", "A", "--quiet")
	token := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	defer p.stop()
	c := clientOf(t, p.base, token)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam"}}}))
	var full error
	for n := 0; full == nil; n++ {
		full = os.WriteFile(filepath.Join(disk, fmt.Sprint("ballast", n)), nil, 0o600)
	}
	require.ErrorIs(t, full, syscall.ENOSPC)
	_, body := look(t, p.base+"/healthz")
	require.Contains(t, body, "has no room for another file")
	require.NoError(t, c.Report(t.Context(), motion(account, "cam", 1)))
	status, _ := look(t, p.base+"/readyz")
	require.Equal(t, 200, status)
	require.NoError(t, os.Remove(filepath.Join(disk, "ballast0")))
	_, body = look(t, p.base+"/healthz")
	require.NotContains(t, body, "has no room for another file")
}

func TestRoom(t *testing.T) {
	for text, want := range map[string]room{"20GB": {bytes: 20e9}, "512MiB": {bytes: 512 << 20}, "50%": {share: 0.5},
		"0": {}} {
		var r room
		require.NoError(t, r.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, r)
	}
	for _, text := range []string{"", "x", "1MB", "100%", "-5GB", "5"} {
		require.Error(t, new(room).UnmarshalText([]byte(text)), text)
	}
	require.Positive(t, room{share: 0.5}.limit(t.TempDir()))
}

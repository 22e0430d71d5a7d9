package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestBackupAndRestore of a running service: what was in it comes back under the same ids, in an
// empty folder and over another one.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "vms.backup")
	account := must(t, "init", "--data", data, "--account", "A", "--quiet")
	bridge := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	user := must(t, "token", "create", "--data", data, "--kind", "user", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	c := clientOf(t, p.base, bridge)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam"}}}))
	for n := range 20 {
		require.NoError(t, c.Report(t.Context(), motion(account, "cam", n)))
	}
	require.Contains(t, must(t, "backup", "--data", data, file), "verified")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, c.Report(t.Context(), motion(account, "cam", 99)), "after the backup")
	_, errs, code := vmscloud(t, "backup", "--data", data, file)
	require.NotZero(t, code)
	require.Contains(t, errs, "is there already")
	_, errs, code = vmscloud(t, "restore", "--data", data, file)
	require.NotZero(t, code)
	require.Contains(t, errs, "stop it first")
	_, errs, code = vmscloud(t, "fsck", "--data", data)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "stop it first")
	require.Zero(t, p.stop())
	require.Contains(t, must(t, "fsck", "--data", data), "all is in order")
	must(t, "backup", "--data", data, file+"-2") // of a stopped one

	_, errs, code = vmscloud(t, "restore", "--data", data, file)
	require.NotZero(t, code)
	require.Contains(t, errs, "--force")
	other := filepath.Join(dir, "other")
	require.Contains(t, must(t, "restore", "--data", other, file), "Start the service with")
	require.Contains(t, must(t, "restore", "--data", data, "--force", file), "set aside")
	for _, data := range []string{other, data} {
		require.Contains(t, must(t, "fsck", "--data", data), "all is in order")
		p = startProcess(t, data, "--listen", "127.0.0.1:0")
		page, err := clientOf(t, p.base, user).Events(t.Context(), ofCamera("cam"), "")
		require.NoError(t, err)
		n := 0
		for _, ev := range page.Results {
			require.Equal(t, account, ev.AccountID)
			if ev.Type == motion("", "", 0).Type {
				n++
			}
		}
		require.Equal(t, 20, n)
		require.Zero(t, p.stop())
	}

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, b := range map[string][]byte{"cut": whole[:len(whole)-2000], "flipped": flipped(whole),
		"no backup": []byte("hello"), "empty": nil} {
		require.NoError(t, os.WriteFile(file+"-bad", b, 0o600))
		_, errs, code := vmscloud(t, "restore", "--data", filepath.Join(dir, "never"), file+"-bad")
		require.NotZero(t, code, name)
		require.Contains(t, errs, "not a whole backup", name)
	}
	require.NoDirExists(t, filepath.Join(dir, "never"))
}

func flipped(b []byte) []byte {
	c := bytes.Clone(b)
	c[len(c)/2] ^= 1
	return c
}

// TestFsckOfTheService finds what is wrong in each of its files, and puts it in order; the account
// keeps its id.
func TestFsckOfTheService(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "A", "--quiet")
	bridge := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	c := clientOf(t, p.base, bridge)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam"}}}))
	for n := range 20 {
		require.NoError(t, c.Report(t.Context(), motion(account, "cam", n)))
	}
	require.Zero(t, p.stop())
	for name, text := range map[string]string{identityFile: account, registryFile: `"id":"cam"`, eventsFile: `"startTimestamp"`} {
		path := filepath.Join(data, name)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], []byte(text))
			if i < 0 {
				break
			}
			at += i
			b[at+2] ^= 4
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		out, _, code := vmscloud(t, "fsck", "--data", data)
		require.Equal(t, 3, code, out)
		require.Contains(t, out, "vmscloud fsck --repair")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, now), "looking changes nothing")
		require.Contains(t, must(t, "fsck", "--repair", "--data", data), "in order now")
		require.Contains(t, must(t, "fsck", "--data", data), "all is in order")
	}
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	require.NoError(t, clientOf(t, p.base, bridge).Report(t.Context(), motion(account, "cam", 50)))
	require.Zero(t, p.stop())
}

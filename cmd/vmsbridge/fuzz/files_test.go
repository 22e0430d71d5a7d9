package fuzz

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzConfiguration has "vmsbridge check" read a damaged YAML. It says what is wrong, in time, and never the secret in it.
func FuzzConfiguration(f *testing.F) {
	dir := needs(f)
	example, err := os.ReadFile("../../../configs/vmsbridge.example.yaml")
	require.NoError(f, err)
	const secret = "a-secret-of-the-file"
	for _, text := range []string{string(example), "", "{", "cameras: [{id: a, url: rtsp://u:" + secret + "@h/x}]", "a: &a [*a]",
		"bridge: {id: b}\nservice: {url: http://h, token: " + secret + "}\n", "? [" + strings.Repeat("[", 1000), "--- !!binary x\n...\n---\n", "cameras: 5"} {
		f.Add([]byte(text), []byte{})
	}
	f.Add(example, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	var all trials
	f.Fuzz(func(t *testing.T, text, changes []byte) {
		text, changes = bytes.Clone(text), bytes.Clone(changes)
		all.try(t, []any{text, changes}, func(t *trial) {
			in, text := &tape{changes}, bytes.Clone(text)
			for range in.below(8) {
				text = damage(in, text)
			}
			path := write(t, filepath.Join(dir, "damaged.yaml"), string(text))
			out, code := run(t, "vmsbridge", "check", "--config", path)
			require.Contains(t, []int{0, 78}, code, "%s", out)
			require.NotContains(t, out, secret)
		})
	})
}

// damage changes one place of a text or file.
func damage(in *tape, b []byte) []byte {
	if len(b) == 0 {
		return in.some(20)
	}
	at := int(binary.BigEndian.Uint32([]byte{0, in.byte(), in.byte(), in.byte()})) % len(b)
	end := min(len(b), at+1+in.below(64))
	switch in.below(5) {
	case 0:
		b[at] ^= 1 << in.below(8)
	case 1:
		return append(b[:at:at], b[end:]...)
	case 2:
		return append(b[:at:at], append(in.some(40), b[at:]...)...)
	case 3:
		return append(b[:end:end], b[at:]...)
	default:
		copy(b[at:], in.some(64))
	}
	return b
}

// FuzzFiles damages what a bridge left on its disk, and has it checked, listed and repaired. Afterwards the bridge must start.
func FuzzFiles(f *testing.F) {
	dir := needs(f)
	b := startBridge(f, dir, "account-1", "cameras: []")
	for range 20 {
		post(f, b)
	}
	require.NoError(f, b.cmd.Process.Signal(os.Interrupt))
	<-b.done
	f.Add([]byte{})
	f.Add([]byte{0, 3, 0, 0x10, 0, 9, 4, 255, 255, 255, 255, 0, 0x20, 5, 30, 1})
	f.Add([]byte{1, 1, 0, 0x20, 0, 64, 1})
	var all trials
	f.Fuzz(func(t *testing.T, changes []byte) {
		changes = bytes.Clone(changes)
		all.try(t, changes, func(t *trial) {
			in, dir := &tape{changes}, t.TempDir()
			data := filepath.Join(dir, "bridge")
			require.NoError(t, os.CopyFS(data, os.DirFS(b.data)))
			files, err := filepath.Glob(data + "/*")
			require.NoError(t, err)
			for range 1 + in.below(4) {
				path := files[in.below(len(files))]
				content, err := os.ReadFile(path)
				if err != nil {
					continue // a folder
				}
				write(t, path, string(page(in, content)))
			}
			for _, args := range [][]string{{"fsck", "--data"}, {"fsck", "--repair", "--data"}, {"fsck", "--data"}} {
				out, code := run(t, "vmsbridge", append(args, data)...)
				require.Contains(t, []int{0, 1, 2, 3, 4, 74}, code, "%v: %s", args, out)
			}
			again := startBridge(t, dir, "account-1", "cameras: []")
			again.sound(t)
			require.NoError(t, again.cmd.Process.Signal(os.Interrupt))
			<-again.done
			require.Zero(t, again.cmd.ProcessState.ExitCode(), "%s", again.output())
		})
	})
}

// page damages a file in the ways of disks: a page of zeros, of another place, of noise; a short file; a bit.
func page(in *tape, b []byte) []byte {
	const size = 4096
	if len(b) < size {
		return damage(in, b)
	}
	at := in.below(min(len(b)/size, 65536)) * size
	switch in.below(5) {
	case 0:
		clear(b[at : at+size])
	case 1:
		copy(b[at:at+size], b[in.below(min(len(b)/size, 65536))*size:])
	case 2:
		for i := range b[at : at+size] {
			b[at+i] = byte(i*7) ^ in.byte()
		}
	case 3:
		return b[:at+in.below(size)]
	default:
		copy(b[at+in.below(64):], in.some(64))
	}
	return b
}

// post reports an event to the bridge's own interface, so that there is something in its journal.
func post(f *testing.F, b *bridge) {
	f.Helper()
	body := `{"type":"vms.motionDetectionEvent.v1","startTimestamp":"` + time.Now().UTC().Format("2006-01-02T15:04:05.000+00:00") + `","endTimestamp":null,
		"span":true,"accountId":"account-1","actorId":"bridge-1","actorAccountId":"account-1","actorType":"bridge","creatorId":"test",
		"dataSchemas":["vms.creatorDetails.v1"],"data":[{"type":"vms.creatorDetails.v1","creatorId":"test","id":"x","name":"y","vendor":"z"}]}`
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, b.base+"/api/v3.0/events", strings.NewReader(body))
	require.NoError(f, err)
	r.Header.Set("Authorization", "Bearer "+lanToken)
	res, err := http.DefaultClient.Do(r)
	require.NoError(f, err)
	require.NoError(f, res.Body.Close())
	require.Equal(f, http.StatusCreated, res.StatusCode)
}

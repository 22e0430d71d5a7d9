package fuzz

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/scripts/harness"
)

// FuzzFiles damages what a bridge left on its disk, and has it checked, and now and then repaired.
// Then the bridge must start, and answer what is asked of it. A half of the damage is within what
// has a checksum, which is made right again, so that what reads what is behind it meets it too.
func FuzzFiles(f *testing.F) {
	dir := needs(f)
	kept := used(f, dir)
	for i := range 5 {
		f.Add([]byte{byte(i)})
	}
	// A gap's record that is too short for what a gap has.
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5})
	f.Add([]byte{0, 3, 0, 0x10, 0, 9, 4, 255, 255, 255, 255, 0, 0x20, 5, 30, 1})
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			dir := t.TempDir()
			data := filepath.Join(dir, "bridge")
			require.NoError(t, os.CopyFS(data, os.DirFS(kept)))
			spoil(t, in, data)
			out, code := run(t, nil, "vmsbridge", "fsck", "--data", data)
			ends(t, out, code, 0, 1, 3, 4, 74) // 2 is a panic
			if fuzzing() && !in.sometimes(6) {
				return
			}
			if in.below(2) == 0 {
				out, code = run(t, nil, "vmsbridge", "fsck", "--repair", "--data", data)
				ends(t, out, code, 0, 1, 3, 4, 74) // 2 is a panic
			}
			b := startBridge(t, dir, "account-1", "cameras: []")
			for _, path := range []string{"events?actor=camera:cam&type__in=vms.motionDetectionEvent.v1&startTimestamp__gte=2020-01-01T00:00:00.000%2B00:00",
				"media/recordedImage.jpeg:listFieldValues?deviceId=cam&type=preview",
				"media/recordedImage.jpeg?deviceId=cam&type=preview&timestamp__lt=2100-01-01T00:00:00.000%2B00:00"} {
				request(t, b.process,
					asked{"GET",
						fmt.Appendf(nil, "GET /api/v3.0/%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: "+
							"Bearer %s\r\n\r\n", path, lanToken), true})
			}
			b.sound(t)
			answers(t, b.process)
			require.NoError(t, b.cmd.Process.Signal(os.Interrupt))
			select {
			case <-b.done:
			case <-time.After(answerPatience):
				t.Fatalf("%s HANGS when it is to stop; %s", b.name(), b.stands())
			}
			ends(t, b.output(), b.cmd.ProcessState.ExitCode(), 0)
			b.quiet(t)
		})
	})
}

// used is the folder of a bridge that has seen a camera for a while, and a few segments of stills.
func used(f *testing.F, dir string) string {
	port := harness.Port(f)
	run := func() *process {
		p := start(f, "", "camsim", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", "mjpeg",
			"--size", "1920x1080", "--fps", "4")
		p.says(f, fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port))
		return p
	}
	camera := run()
	b := startBridge(f, dir, "account-1",
		fmt.Sprintf("cameras: [{id: cam, url: \"rtsp://127.0.0.1:%d/cam\", transport: tcp}]", port))
	require.Eventually(f, func() bool {
		segments, err := filepath.Glob(b.data + "/stills/*.seg")
		return err == nil && len(segments) > 2
	}, 2*time.Minute, 100*time.Millisecond, "three segments of stills")
	for range 20 {
		post(f, b)
	}
	require.NoError(f, camera.cmd.Process.Kill())
	b.says(f, "camera stream failed")
	run() // the stills have a gap when there is a picture again
	require.Eventually(f, func() bool {
		segments, err := filepath.Glob(b.data + "/stills/*.seg")
		return err == nil && slices.ContainsFunc(segments, hasGap)
	}, 2*time.Minute, 100*time.Millisecond, "a gap")
	require.NoError(f, b.cmd.Process.Signal(os.Interrupt))
	<-b.done
	return b.data
}

// spoil damages the files of a bridge in a few places.
func spoil(t *trial, in *tape, data string) {
	var files []string
	require.NoError(t, filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".lock" && d.Name() != "LOCK" {
			files = append(files, path)
		}
		return err
	}))
	for range 1 + in.below(4) {
		path := files[in.below(len(files))]
		if in.sometimes(3) {
			path = filepath.Join(data, "journal.db")
		}
		if segments := slices.DeleteFunc(slices.Clone(files), func(path string) bool {
			return !strings.HasSuffix(path, ".seg") || !hasGap(path)
		}); in.sometimes(3) && len(segments) > 0 {
			path = segments[0]
		}
		segment, journal := strings.HasSuffix(path, ".seg"), filepath.Base(path) == "journal.db"
		t.Did("damage %s", filepath.Base(path))
		if journal && in.below(2) == 0 {
			spoilValue(t, in, path)
			continue
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if segment && in.below(2) == 0 {
			spoilRecord(t, in, content)
		} else {
			content = page(in, content)
		}
		write(t, path, string(content))
	}
}

// page damages a file in the ways of disks: a page of zeros, of another place, of noise; a short
// file; a bit.
func page(in *tape, b []byte) []byte {
	const size = 4096
	if len(b) < size {
		return damage(in, b)
	}
	at := in.below(len(b)/size) * size
	switch in.below(5) {
	case 0:
		clear(b[at : at+size])
	case 1:
		copy(b[at:at+size], b[in.below(len(b)/size)*size:])
	case 2:
		for i := range b[at : at+size] {
			b[at+i] = in.byte()
		}
	case 3:
		return b[:at+in.below(size)]
	default:
		copy(b[at+in.below(64):], in.some(64))
	}
	return b
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// number is what a program may stumble over where it reads a number, of one to eight bytes.
func number(in *tape) []byte {
	if in.sometimes(3) {
		return in.some(8)
	}
	values := []uint64{0, 1, 3, 7, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1 << 20,
		1<<20 - 64}
	return binary.LittleEndian.AppendUint64(nil, values[in.below(len(values))])[:1<<in.below(4)]
}

// Of a segment of stills: its first and its last bytes, the header of a record, and the type of one
// that tells of a gap.
const block, head, gap = 64, 32, 2

// records are where those of a segment begin, and what looks like it.
func records(segment []byte) (places []int) {
	for at := block; at+head <= len(segment)-block; {
		next := bytes.Index(segment[at:len(segment)-block], []byte{0xd9, 0xe1, 0xa7, 0x53})
		if next < 0 || at+next+head > len(segment) {
			break
		}
		places = append(places, at+next)
		at += next + 8
	}
	return places
}

// hasGap reports whether a segment tells of one.
func hasGap(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && slices.ContainsFunc(records(b), func(at int) bool { return b[at+16] == gap })
}

// spoilRecord damages a record of a segment of stills, or its first or last block, and makes the
// checksums right: storage/stills/segment/format.md.
func spoilRecord(t *trial, in *tape, segment []byte) {
	le := binary.LittleEndian
	if len(segment) < 2*block {
		return // damaged before
	}
	end := segment[len(segment)-block:]
	if at, length := int(le.Uint32(end[40:])), int(le.Uint32(end[44:])); in.sometimes(3) && length > 0 &&
		at+length <= len(segment)-block {
		index := segment[at : at+length]
		field := in.below(length)
		copy(index[field:], number(in))
		le.PutUint32(end[48:], crc32.Checksum(index, castagnoli))
		le.PutUint32(end[60:], crc32.Checksum(end[:60], castagnoli))
		t.Did("its index, at %d of %d", field, length)
		return
	}
	if in.sometimes(3) {
		b := segment[:block]
		if in.below(2) == 0 {
			b = end
		}
		field := 12 + in.below(60-12) // not the version: that of a later program is refused
		copy(b[field:60], number(in))
		le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
		t.Did("a block of it, at %d", field)
		return
	}
	places := records(segment)
	if len(places) == 0 {
		return
	}
	at := places[in.below(len(places))]
	if in.below(2) == 0 {
		for _, p := range slices.Backward(places) { // behind it stand records that hold nothing
			if at = p; segment[p+16] == gap {
				break
			}
		}
	}
	r := segment[at:]
	if len(r) < head {
		return
	}
	if body := r[head:min(len(r), head+int(le.Uint32(r[4:])))]; in.below(2) == 0 && len(body) > 0 {
		copy(body[in.below(len(body)):], in.some(64)) // the camera's name, the picture
	} else {
		field, value := []int{4, 4, 4, 8, 16, 17, 18, 19, 20}[in.below(9)], number(in)
		if field == 4 && in.below(2) == 0 {
			value = []byte{byte(in.below(16)), 0, 0, 0} // too short for the name, or for what follows it
		}
		copy(r[field:24], value)
		t.Did("its record at %d, from byte %d", at, field)
	}
	if length := int(le.Uint32(r[4:])); length <= len(r)-head {
		le.PutUint32(r[24:], crc32.Checksum(r[head:head+length], castagnoli))
	}
	sum := crc32.Update(0, castagnoli, segment[24:32])
	sum = crc32.Update(sum, castagnoli, le.AppendUint32(nil, uint32(at)))
	le.PutUint32(r[28:], crc32.Update(sum, castagnoli, r[:28]))
}

// sealed is how long the tag and the checksum of a value of the journal are.
const sealed = 5

// spoilValue damages a key or a value of the journal, and makes its checksum right:
// storage/journal/schema/format.md.
func spoilValue(t *trial, in *tape, path string) {
	defer func() {
		if recover() != nil { // bbolt's own, for the file is damaged already
			t.Did("it was past changing")
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		return
	}
	defer db.Close()
	_ = db.Update(func(tx *bolt.Tx) error {
		var names [][]byte
		_ = tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if k, _ := b.Cursor().First(); k != nil {
				names = append(names, bytes.Clone(name))
			}
			return nil
		})
		if events := []byte("events"); in.below(2) == 0 && tx.Bucket(events) != nil {
			names = [][]byte{events}
		}
		if len(names) == 0 {
			return nil
		}
		name := names[in.below(len(names))]
		if string(name) == "format" {
			return nil // a later version's is refused
		}
		b := tx.Bucket(name)
		var keys [][]byte
		_ = b.ForEach(func(k, _ []byte) error { keys = append(keys, bytes.Clone(k)); return nil })
		if len(keys) == 0 {
			return b.Put(append(in.some(20), 'x'), in.some(40))
		}
		key := keys[in.below(len(keys))]
		value := bytes.Clone(b.Get(key))
		switch in.below(4) {
		case 0:
			t.Did("%s: key %q goes", name, key)
			return b.Delete(key)
		case 1:
			if key = damage(in, key); len(key) == 0 {
				return nil
			}
		default:
			if len(value) > sealed {
				if in.below(2) == 0 { // at its beginning, rather than somewhere
					copy(value[sealed+in.below(min(len(value)-sealed, 64)):], in.some(4))
				} else {
					value = append(value[:sealed:sealed], damage(in, value[sealed:])...)
				}
				binary.BigEndian.PutUint32(value[1:], crc32.Checksum(value[sealed:], castagnoli))
			} else {
				value = damage(in, value)
			}
		}
		t.Did("%s: %q is %.200q", name, key, value)
		return b.Put(key, value)
	})
}

package database

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"vmsbridge/storage/guard"
)

// CopySuffix names the copy.
const CopySuffix = ".copy"

// The copy, little-endian, checksums CRC-32C of what stands before them:
//
//	8   "VMSCOPY1"
//	8   number of the transaction of the file that it is a copy of
//	4   checksum
//	then for each record
//	4   bytes of the bucket's name; 0 ends the copy, and the next two numbers are 0
//	4   bytes of the key
//	4   bytes of the value
//	…   name, key, value
//	4   checksum of all since the record's beginning
//
// A record that is damaged ends what can be read of it.
const copyMagic = "VMSCOPY1"

// maxField bounds what a damaged length may take of memory.
const maxField = 64 << 20

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errCopy    = errors.New("the copy is damaged")
)

// writeCopy writes a copy of the buckets that are copied, and returns a sum of what they hold. It
// takes its name when it is whole and on the device; keep says that the one that is there is as
// good, by its sum.
func writeCopy(tx *bolt.Tx, path string, copied func(string) bool, sync bool, keep uint64) (sum uint64, err error) {
	next := path + guard.NewSuffix
	if err := guard.Remove(next); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	sum, err = encode(w, tx, copied)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = guard.GiveToOwner(f)
	}
	if err == nil && sync && sum != keep {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || sum == keep {
		os.Remove(next)
		return sum, err
	}
	if !sync {
		return sum, os.Rename(next, path)
	}
	return sum, guard.Rename(next, path)
}

func encode(w io.Writer, tx *bolt.Tx, copied func(string) bool) (sum uint64, err error) {
	head := binary.LittleEndian.AppendUint64([]byte(copyMagic), uint64(tx.ID()))
	_, err = w.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli)))
	if err != nil {
		return 0, err
	}
	var b []byte
	put := func(name, k, v []byte) error {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(k)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
		b = append(append(append(b, name...), k...), v...)
		crc := crc32.Checksum(b, castagnoli)
		sum = sum*1099511628211 + uint64(crc) + 1
		_, err := w.Write(binary.LittleEndian.AppendUint32(b, crc))
		return err
	}
	err = tx.ForEach(func(name []byte, bucket *bolt.Bucket) error {
		if !copied(string(name)) {
			return nil
		}
		return bucket.ForEach(func(k, v []byte) error { return put(name, k, v) })
	})
	if err == nil {
		err = put(nil, nil, nil)
	}
	return sum, err
}

// readCopy calls visit with each record of the copy at path, whose slices are its own, and returns
// the number of the transaction. Without a copy the error is fs.ErrNotExist; one that is damaged
// gives what stands before the damage, and errCopy.
func readCopy(path string, visit func(bucket string, key, value []byte) error) (tx uint64, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head := make([]byte, len(copyMagic)+8+4)
	n := len(head) - 4
	if _, err := io.ReadFull(r, head); err != nil || string(head[:8]) != copyMagic ||
		crc32.Checksum(head[:n], castagnoli) != binary.LittleEndian.Uint32(head[n:]) {
		return 0, fmt.Errorf("%s: %w", filepath.Base(path), errCopy)
	}
	tx = binary.LittleEndian.Uint64(head[8:])
	for {
		name, key, value, err := readRecord(r)
		if err != nil {
			return tx, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if len(name) == 0 {
			return tx, nil
		}
		if err := visit(string(name), key, value); err != nil {
			return tx, err
		}
	}
}

func readRecord(r io.Reader) (name, key, value []byte, err error) {
	lens := make([]byte, 12)
	if _, err := io.ReadFull(r, lens); err != nil {
		return nil, nil, nil, errCopy
	}
	n := int(binary.LittleEndian.Uint32(lens))
	k := int(binary.LittleEndian.Uint32(lens[4:]))
	v := int(binary.LittleEndian.Uint32(lens[8:]))
	if n > maxField || k > maxField || v > maxField {
		return nil, nil, nil, errCopy
	}
	b := make([]byte, n+k+v+4)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, nil, nil, errCopy
	}
	body := b[:n+k+v]
	if crc32.Update(crc32.Checksum(lens, castagnoli), castagnoli, body) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, nil, nil, errCopy
	}
	return body[:n:n], body[n : n+k : n+k], body[n+k:], nil
}

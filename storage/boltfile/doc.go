// Package boltfile reads the pages of a bbolt file without trusting any of them. bbolt itself
// asserts, and a damaged file ends in a panic or in a wild read; this reader checks a file and
// saves what can be read from a damaged one. It knows bbolt's version 2 file form
// (go.etcd.io/bbolt/internal/common: meta.go, page.go, bucket.go, inode.go), in little-endian byte
// order, with one level of buckets.
//
//	f, err := boltfile.New(file, size)
//	lost, err := f.Walk(func(bucket string, key, value []byte) error { … })
package boltfile

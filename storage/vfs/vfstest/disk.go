package vfstest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"vmsbridge/storage/vfs"
)

// Disk is a file system in memory that can lose its power. What Sync and SyncDir promise survives;
// of the rest, Crash keeps a random part. It is stricter than most real ones: a file's Sync says
// nothing of its name, and a name says nothing of the bytes behind it. All methods are safe for
// concurrent use.
type Disk struct {
	capacity int64

	mu    sync.Mutex
	names map[string]*inode // as programs see them
	kept  map[string]*inode // as a crash leaves them at least
	steps []step            // changes of names since kept, in order
	locks map[string]bool
}

// inode is a file, whatever its names.
type inode struct {
	live   []byte
	kept   []byte // as of the last Sync; nil before the first
	writes []write
}

// write is one that the next Sync makes durable.
type write struct {
	at   int64
	data []byte
}

// step is a change of names: of to, and away from from.
type step struct {
	from, to string // from is empty for a creation, to for a removal
	file     *inode
}

// sector is what a device writes as a whole or not at all.
const sector = 512

// NewDisk is an empty one of that many bytes; files take the bytes they are made with.
func NewDisk(capacity int64) *Disk {
	return &Disk{capacity: capacity, names: map[string]*inode{}, kept: map[string]*inode{}, locks: map[string]bool{}}
}

// Crash is what a power cut leaves of d: what was made durable, and of everything else a random
// part, sector by sector and name by name. How much of it differs from call to call, between
// nothing and all. d goes on to work as before; nothing that happens to it changes the new one.
func (d *Disk) Crash(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := NewDisk(d.capacity)
	luck := func() float64 { return []float64{0, 0.1, 0.5, 0.9, 1}[rng.IntN(5)] }
	files := map[*inode]*inode{}
	data, size, names := luck(), luck(), luck()
	survivor := func(f *inode) *inode {
		if files[f] == nil {
			files[f] = f.crash(rng, data, size)
		}
		return files[f]
	}
	// In a fixed order, so that a seed gives the same disk again.
	list := make([]string, 0, len(d.kept))
	for name := range d.kept {
		list = append(list, name)
	}
	slices.Sort(list)
	for _, name := range list {
		next.kept[name] = survivor(d.kept[name])
	}
	for _, s := range d.steps {
		if rng.Float64() >= names {
			continue
		}
		if s.from != "" && next.kept[s.from] != nil {
			delete(next.kept, s.from)
		}
		if s.to != "" {
			next.kept[s.to] = survivor(s.file)
		}
	}
	for name, f := range next.kept {
		next.names[name] = f
	}
	return next
}

func (f *inode) crash(rng *rand.Rand, data, size float64) *inode {
	n := &inode{live: slices.Clone(f.kept)}
	if f.kept == nil {
		if rng.Float64() >= size {
			return &inode{kept: []byte{}}
		}
		n.live = make([]byte, len(f.live))
	}
	for _, w := range f.writes {
		for from := int64(0); from < int64(len(w.data)); {
			to := min((w.at+from)/sector*sector+sector-w.at, int64(len(w.data)))
			if rng.Float64() < data {
				copy(n.live[w.at+from:], w.data[from:to])
			}
			from = to
		}
	}
	n.kept = slices.Clone(n.live)
	return n
}

// MakeDir has nothing to do: a directory is there when a file is in it.
func (d *Disk) MakeDir(string) error { return nil }

// List names the files of a directory.
func (d *Disk) List(dir string) ([]vfs.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []vfs.Entry
	for name, f := range d.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			list = append(list, vfs.Entry{Name: filepath.Base(name), Size: int64(len(f.live))})
		}
	}
	slices.SortFunc(list, func(a, b vfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Create makes a file.
func (d *Disk) Create(name string, size int64) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	if d.usedLocked()+size > d.capacity {
		return nil, fmt.Errorf("allocate %d bytes for %s: %w", size, name, syscall.ENOSPC)
	}
	f := &inode{live: make([]byte, size)}
	d.names[name] = f
	d.steps = append(d.steps, step{to: name, file: f})
	return &diskFile{d, f, true}, nil
}

// Open opens a file.
func (d *Disk) Open(name string, write bool) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	if f == nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return &diskFile{d, f, write}, nil
}

// Remove deletes a file.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] == nil {
		return &os.PathError{Op: "remove", Path: name, Err: os.ErrNotExist}
	}
	delete(d.names, name)
	d.steps = append(d.steps, step{from: name})
	return nil
}

// Rename gives a file another name.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[from]
	if f == nil {
		return &os.PathError{Op: "rename", Path: from, Err: os.ErrNotExist}
	}
	delete(d.names, from)
	d.names[to] = f
	d.steps = append(d.steps, step{from: from, to: to, file: f})
	return nil
}

// SyncDir makes dir's names durable.
func (d *Disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	in := func(name string) bool { return name != "" && filepath.Dir(name) == filepath.Clean(dir) }
	d.steps = slices.DeleteFunc(d.steps, func(s step) bool {
		if !in(s.from) && !in(s.to) {
			return false
		}
		if s.from != "" {
			delete(d.kept, s.from)
		}
		if s.to != "" {
			d.kept[s.to] = s.file
		}
		return true
	})
	return nil
}

// Free is the capacity less the files' bytes.
func (d *Disk) Free(string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.capacity - d.usedLocked(), nil
}

// Capacity is that of NewDisk.
func (d *Disk) Capacity(string) (int64, error) { return d.capacity, nil }

func (d *Disk) usedLocked() (n int64) {
	for _, f := range d.names {
		n += int64(len(f.live))
	}
	return n
}

// Lock takes a lock; it leaves no file.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[name] {
		return nil, vfs.ErrLocked
	}
	d.locks[name] = true
	return diskLock{d, name}, nil
}

type diskLock struct {
	d    *Disk
	name string
}

func (l diskLock) Close() error {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	delete(l.d.locks, l.name)
	return nil
}

package witness

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sector is what a device writes whole: a torn write keeps some sectors and loses others.
const sector = 512

// Crash makes, below to, the files that a crash right after ops may have left of those below from:
// what was synced is there, and of the rest a random part. from was empty before ops, and its
// folders are taken for durable; to must exist.
//
// The model is stricter than most file systems. A file's content is durable up to its last sync,
// and each sector written and each truncation after that may or may not have arrived, in any order.
// Creations, renames and removals are durable once their folder was synced; of those after, a first
// part of them, of any length, has arrived (metadata is journaled in order), whatever became of the
// contents. What a failed sync should have flushed survives in part, once and for all.
func Crash(ops []Op, from, to string, rng *rand.Rand) error {
	d := disk{now: map[string]*content{}, durable: map[string]*content{}}
	for _, op := range ops {
		if err := d.do(op, rng); err != nil {
			return err
		}
	}
	kept := rng.IntN(len(d.pending) + 1)
	for _, p := range d.pending[:kept] {
		p.change(d.durable)
	}
	// Nothing, everything and some of what was not synced are the interesting cases alike.
	share := []float64{0, 1, rng.Float64()}[rng.IntN(3)]
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	for path, c := range d.durable {
		rel, ok := strings.CutPrefix(path, from+"/")
		if !ok {
			return fmt.Errorf("crash: %s is not below %s", path, from)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o700); err != nil {
			return err
		}
		if err := c.survive(rng, share).store(filepath.Join(to, rel)); err != nil {
			return err
		}
	}
	return nil
}

// disk is names and contents, each as they are and as they would be after a crash.
type disk struct {
	now, durable map[string]*content
	pending      []naming // changes of names since their folder's sync
}

// naming is a change of names in a folder.
type naming struct {
	folder string
	change func(map[string]*content)
}

// content is a file's: synced bytes, and what was done since.
type content struct {
	bytes image
	since []Op
}

func (d *disk) name(path string, change func(map[string]*content)) {
	change(d.now)
	d.pending = append(d.pending, naming{filepath.Dir(path), change})
}

func (d *disk) do(op Op, rng *rand.Rand) error {
	c := d.now[op.Path]
	switch op.Kind {
	case Create:
		c = &content{bytes: image{sectors: map[int64][]byte{}}}
		d.name(op.Path, func(m map[string]*content) { m[op.Path] = c })
	case Remove:
		d.name(op.Path, func(m map[string]*content) { delete(m, op.Path) })
	case Rename:
		if c == nil {
			return fmt.Errorf("crash: %v: there is no such file", op)
		}
		d.name(op.To, func(m map[string]*content) { delete(m, op.Path); m[op.To] = c })
	case SyncDir:
		d.pending = slices.DeleteFunc(d.pending, func(p naming) bool {
			if p.folder == op.Path {
				p.change(d.durable)
			}
			return p.folder == op.Path
		})
	case Write, Truncate, Sync, NoSync:
		if c == nil {
			return fmt.Errorf("crash: %v: there is no such file", op)
		}
		switch op.Kind {
		case Sync:
			for _, op := range c.since {
				c.bytes.do(op)
			}
			c.since = nil
		case NoSync:
			c.bytes, c.since = c.survive(rng, rng.Float64()), nil
		default:
			c.since = append(c.since, op)
		}
	}
	return nil
}

// survive is the content after a crash that let each part of what was not synced through with that
// probability.
func (c *content) survive(rng *rand.Rand, share float64) image {
	im := c.bytes.clone()
	for _, op := range c.since {
		if op.Kind == Truncate {
			if rng.Float64() < share {
				im.do(op)
			}
			continue
		}
		for len(op.Data) > 0 {
			n := min(len(op.Data), int(sector-op.Offset%sector))
			if rng.Float64() < share {
				im.do(Op{Kind: Write, Offset: op.Offset, Data: op.Data[:n]})
			}
			op.Offset, op.Data = op.Offset+int64(n), op.Data[n:]
		}
	}
	return im
}

// image is a file's bytes: those of the sectors that were ever written, zero elsewhere.
type image struct {
	sectors map[int64][]byte
	size    int64
}

// clone shares the sectors, which are never changed in place.
func (im image) clone() image {
	c := image{sectors: make(map[int64][]byte, len(im.sectors)), size: im.size}
	for k, v := range im.sectors {
		c.sectors[k] = v
	}
	return c
}

func (im *image) do(op Op) {
	if op.Kind == Truncate {
		for k := range im.sectors {
			if k*sector >= op.Size {
				delete(im.sectors, k)
			}
		}
		if at := op.Size / sector; op.Size < im.size && im.sectors[at] != nil {
			s := slices.Clone(im.sectors[at])
			clear(s[op.Size%sector:])
			im.sectors[at] = s
		}
		im.size = op.Size
		return
	}
	at, data := op.Offset, op.Data
	for len(data) > 0 {
		s := make([]byte, sector)
		copy(s, im.sectors[at/sector])
		n := copy(s[at%sector:], data)
		im.sectors[at/sector] = s
		at, data = at+int64(n), data[n:]
	}
	im.size = max(im.size, at)
}

func (im image) store(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(im.size); err != nil {
		return err
	}
	keys := make([]int64, 0, len(im.sectors))
	for k := range im.sectors {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i := 0; i < len(keys); {
		run := slices.Clone(im.sectors[keys[i]])
		first := keys[i]
		for i++; i < len(keys) && keys[i] == first+int64(len(run)/sector); i++ {
			run = append(run, im.sectors[keys[i]]...)
		}
		if end := first*sector + int64(len(run)); end > im.size {
			run = run[:int64(len(run))-(end-im.size)]
		}
		if _, err := f.WriteAt(run, first*sector); err != nil {
			return err
		}
	}
	return nil
}

package file

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/vfs"
)

const (
	// compactFill is how full the pages of a compact file are; the rest is room for the next
	// changes.
	compactFill = 0.9
	// compactSpare is what must be free on the disk beside the copy itself.
	compactSpare = 16 << 20
	// copyKeys and copyBytes bound one step of copying, and so how long pages of the old file are
	// held.
	copyKeys, copyBytes = 2000, 1 << 20
	// catchUp is how many bytes of changes may be left when writers are made to wait for the last
	// of them.
	catchUp = 64 << 10
)

// Compaction tells what Compact did.
type Compaction struct {
	Before, After int64         // bytes of the file; equal if nothing was to be done
	Took          time.Duration // all of it
	Held          time.Duration // for how long changes had to wait at its end
}

// Compact writes the file anew without its free pages, whether there are many or not. Other calls
// go on meanwhile: changes wait only at the end, for Held, and so do reads while the files change
// places and reads under way end. It needs room on the disk for the copy, and gives ErrFull, having
// done nothing, where there is not enough. The old file stays what counts until the new one,
// complete and synced, takes its name; a crash before that costs the work, and the next Open
// removes what is left of it. While another call is at it, it does nothing.
func (f *File) Compact(ctx context.Context) (Compaction, error) {
	var size, free int64
	err := f.View(func(tx *bolt.Tx) error {
		size, free = Size(tx)
		return nil
	})
	if err != nil {
		return Compaction{}, fmt.Errorf("compact journal: %w", err)
	}
	began := time.Now()
	c := Compaction{Before: size, After: size}
	if !f.move.begin() {
		return c, nil // another call is at it
	}
	defer f.move.end()
	need := (size-free)*5/4 + compactSpare
	if room, err := vfs.OS.Free(filepath.Dir(f.path)); err != nil {
		return c, fmt.Errorf("compact journal: %w", err)
	} else if room < need {
		return c, fmt.Errorf("compact journal: %w (a copy of it needs %d MiB, %d MiB are free)", ErrFull, need>>20,
			room>>20)
	}
	next := f.path + guard.CompactingSuffix
	if err := guard.Remove(next); err != nil {
		return c, fmt.Errorf("compact journal: %w", explain(err))
	}
	if err := f.copyTo(ctx, next, &c); err != nil {
		return c, fmt.Errorf("compact journal: %w", explain(err))
	}
	c.Took = time.Since(began)
	f.metrics.compactions.Inc()
	f.log.Info("journal compacted", "before", c.Before, "after", c.After, "took", c.Took.Round(time.Millisecond),
		"held", c.Held.Round(time.Microsecond))
	return c, nil
}

// Size is how many bytes the file has, and how many of them are of pages that hold nothing.
func Size(tx *bolt.Tx) (bytes, free int64) { return tx.Size(), freeBytes(tx.DB()) }

func freeBytes(db *bolt.DB) int64 {
	s := db.Stats()
	return int64(s.FreePageN+s.PendingPageN) * int64(db.Info().PageSize)
}

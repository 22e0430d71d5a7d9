package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/vfs"
)

const (
	compactingSuffix = ".compacting"
	// compactFill is how full the pages of a compact file are; the rest is room for the next changes.
	compactFill = 0.9
	// compactSpare is what must be free on the disk beside the copy itself.
	compactSpare = 16 << 20
	// copyKeys and copyBytes bound one step of copying, and so how long pages of the old file are held.
	copyKeys, copyBytes = 2000, 1 << 20
	// catchUp is how many changes may be left when writers are made to wait for the last of them.
	catchUp = 100
)

// Compaction tells what Compact did.
type Compaction struct {
	Before, After int64         // bytes of the file; equal if nothing was to be done
	Took          time.Duration // all of it
	Held          time.Duration // for how long changes had to wait at its end
}

// Compact writes the file anew without its free pages if it is larger than Options.CompactAbove and more than half of it is
// free; else it does nothing. Other calls go on meanwhile: changes wait only at the end, for Held, and so do reads while the
// files change places and reads under way end. It needs room on the disk for the copy, and gives ErrFull, having done
// nothing, where there is not enough. The old file stays what counts until the new one, complete and synced, takes its name;
// a crash before that costs the work, and the next Open removes what is left of it.
func (j *Journal) Compact(ctx context.Context) (Compaction, error) {
	s, err := j.OutboxStats()
	if err != nil {
		return Compaction{}, fmt.Errorf("compact journal: %w", err)
	}
	if s.Bytes < j.opts.CompactAbove || s.Free <= s.Bytes/2 {
		return Compaction{Before: s.Bytes, After: s.Bytes}, nil
	}
	return j.compact(ctx, s)
}

// compact is Compact where it is worth it. s is the journal's state.
func (j *Journal) compact(ctx context.Context, s Stats) (Compaction, error) {
	began := time.Now()
	c := Compaction{Before: s.Bytes, After: s.Bytes}
	if !j.move.begin() {
		return c, nil // another call is at it
	}
	defer j.move.end()
	need := (s.Bytes-s.Free)*5/4 + compactSpare
	if free, err := vfs.OS.Free(filepath.Dir(j.path)); err != nil {
		return c, fmt.Errorf("compact journal: %w", err)
	} else if free < need {
		return c, fmt.Errorf("compact journal: %w (a copy of it needs %d MiB, %d MiB are free)", ErrFull, need>>20, free>>20)
	}
	next := j.path + compactingSuffix
	if err := remove(next); err != nil {
		return c, fmt.Errorf("compact journal: %w", explain(err))
	}
	if err := j.copyTo(ctx, next, &c); err != nil {
		return c, fmt.Errorf("compact journal: %w", explain(err))
	}
	c.Took = time.Since(began)
	j.metrics.compactions.Inc()
	j.log.Info("journal compacted", "before", c.Before, "after", c.After, "took", c.Took.Round(time.Millisecond), "held", c.Held.Round(time.Microsecond))
	return c, nil
}

// copyTo copies everything to a new file and lets it take the journal's name.
func (j *Journal) copyTo(ctx context.Context, next string, c *Compaction) (err error) {
	opts := j.boltOptions()
	opts.NoSync, opts.NoGrowSync = true, true
	db, file, err := guard.Open(next, opts)
	if err != nil {
		return err
	}
	j.dbMu.RLock()
	from := j.db
	j.dbMu.RUnlock()
	defer func() {
		if err != nil {
			_ = db.Close()
			os.Remove(next)
		}
	}()
	db.AllocSize = growBytes
	if err := guard.Run(func() error { return db.Update(table.Create) }); err != nil {
		return err
	}
	// From here on every change is noted, so that it does not matter what the copying has seen of it.
	j.commitMu.Lock()
	j.move.watch()
	j.commitMu.Unlock()
	for _, name := range form.Buckets {
		if err := j.copyBucket(ctx, db, name); err != nil {
			return err
		}
	}
	for range 20 {
		changed := j.move.take()
		if err := j.apply(db, changed); err != nil {
			return err
		}
		if len(changed) < catchUp {
			break
		}
	}
	if err := db.Sync(); err != nil {
		return err
	}
	if err := j.swap(from, db, file, c); err != nil {
		return err
	}
	// Giving back the old file's blocks takes a while, and nobody has to wait for it.
	if err := guard.Run(from.Close); err != nil {
		j.log.Warn("close the journal's old file", "error", err)
	}
	return nil
}

// swap takes over the last changes and lets the new file take the old one's place.
func (j *Journal) swap(from, db *bolt.DB, file *os.File, c *Compaction) error {
	j.commitMu.Lock()
	defer j.commitMu.Unlock()
	began := time.Now()
	if err := j.apply(db, j.move.take()); err != nil {
		return err
	}
	var sequence, changes uint64
	err := j.view(func(tx *bolt.Tx) error {
		sequence, changes = guard.Bucket(tx, form.Outbox).Sequence(), guard.Bucket(tx, form.Changes).Sequence()
		return nil
	})
	if err != nil {
		return err
	}
	db.NoSync, db.NoGrowSync = false, false
	err = guard.Run(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			c.After = tx.Size()
			return errors.Join(guard.Bucket(tx, form.Outbox).SetSequence(sequence), guard.Bucket(tx, form.Changes).SetSequence(changes))
		})
	})
	if err != nil {
		return err
	}
	j.dbMu.Lock()
	defer j.dbMu.Unlock()
	if j.db == nil {
		return ErrClosed
	}
	if j.db != from {
		return errors.New("the journal was recovered from damage meanwhile")
	}
	if err := os.Rename(j.path+compactingSuffix, j.path); err != nil {
		return err
	}
	j.db, j.file = db, file
	// Changes are promised to last from now on by the new file, so its name must last before any is made.
	j.namesUnsure = true
	_ = j.syncNames()
	c.Held = time.Since(began)
	return nil
}

// settleNames makes the file's name durable where that has failed before; until it is, no change is promised.
func (j *Journal) settleNames() error {
	j.dbMu.RLock()
	defer j.dbMu.RUnlock()
	return j.syncNames()
}

// syncNames is settleNames for those who hold dbMu. namesUnsure is guarded by commitMu.
func (j *Journal) syncNames() error {
	if !j.namesUnsure {
		return nil
	}
	if err := vfs.OS.SyncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("make the compacted journal's name durable: %w", err)
	}
	j.namesUnsure = false
	return nil
}

// freeBytes is what the file's free pages hold.
func freeBytes(tx *bolt.Tx) int64 {
	s := tx.DB().Stats()
	return int64(s.FreePageN+s.PendingPageN) * int64(tx.DB().Info().PageSize)
}

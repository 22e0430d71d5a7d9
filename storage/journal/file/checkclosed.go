package file

import (
	"errors"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// checkClosed reads and compares everything in the file at path, which nobody may open meanwhile.
// Of one that a power cut left half written, it reads the state that the log beside it continues.
// It changes nothing. A newer form gives ErrNewer.
func checkClosed(path string) (r Report, err error) {
	r, err = checkAsItLies(path)
	log := readRedo(path + LogSuffix)
	if err != nil || r.Clean() || log == nil {
		return r, err
	}
	defer log.close()
	file, err := os.Open(path)
	if err != nil {
		return r, nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !log.mark.state.Fits(file) {
		return r, nil
	}
	f, err := boltfile.New(log.mark.state.In(file), info.Size())
	if err != nil {
		return r, nil
	}
	if before, err := Inspect(f); err == nil && before.Clean() {
		before.Bytes = r.Bytes
		return before, nil
	}
	return r, nil
}

func checkAsItLies(path string) (r Report, err error) {
	info, err := os.Stat(path)
	if err == nil {
		r.Bytes = info.Size()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Addf("a recovery was cut off: its new file is there, and has not got its name yet")
		return r, nil
	case boltfile.Unreadable(err):
		r.Addf("%v", err)
		return r, nil
	case err != nil || r.Bytes == 0:
		return r, err // nothing was ever written to it
	}
	if err := guard.Metas(path); err != nil {
		damaged, ok := errors.AsType[*guard.DamageError](err)
		if !ok {
			return r, err
		}
		r.Addf("%v", damaged.Cause)
		return r, nil
	}
	var found *inspector
	err = boltfile.Read(path, func(f *boltfile.File, err error) error {
		if err != nil {
			r.Addf("%v", err)
			return nil
		}
		found, err = inspect(f, nil)
		switch {
		case err != nil:
			return err
		case found.form > schema.VersionLogged:
			return schema.ErrNewer
		case found.form == 1:
			return schema.ErrOlder
		}
		found.Bytes = r.Bytes
		r = found.Report
		return nil
	})
	if err != nil || found == nil || !found.whole {
		return r, err
	}
	return r, r.compareClosed(path)
}

// compareClosed is compare with bbolt reading the file.
func (r *Report) compareClosed(path string) error {
	err := guard.View(path, func(tx *bolt.Tx) error {
		if _, _, err := formOf(tx); err != nil {
			return err
		}
		r.compare(tx)
		if r.Clean() {
			r.checkSegments(tx)
		}
		return nil
	})
	if damaged, ok := errors.AsType[*guard.DamageError](err); ok {
		r.Addf("%v", damaged.Cause)
		return nil
	}
	return err
}

// checkSegments reads the segments beside a file that is sound, if they are its own.
func (r *Report) checkSegments(tx *bolt.Tx) {
	const damaged = "a segment beside the journal is damaged; the journal itself is whole"
	s := openSegments(tx.DB().Path(), false)
	if s == nil {
		format := guard.Bucket(tx, schema.Format)
		if len(listSegments(tx.DB().Path())) > 0 && format.Get(schema.KeySegments) != nil &&
			format.Get(schema.KeyClean) != nil {
			r.Addf(damaged)
		}
		return
	}
	defer s.close()
	same, reach := s.compare(tx)
	if !same {
		return // the next start begins new ones
	}
	err := s.read(func(rows []byte) error {
		for len(rows) > 0 {
			var err error
			if _, rows, err = schema.CutRows(rows, len(rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !reach {
		r.Addf(damaged)
	}
}

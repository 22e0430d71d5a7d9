package guard

import (
	"errors"
	"fmt"
	"os"

	"vmsbridge/storage/boltfile"
)

// Metas finds a file that was cut, or is without its two meta pages or its list of free ones,
// before bbolt maps it. With one of them bad, bbolt would silently go back by a transaction, and
// forget what was promised to be durable.
func Metas(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err == nil {
		err = boltfile.Read(path, checkFile)
	}
	if boltfile.Unreadable(err) {
		return Damaged(err)
	}
	return err
}

// checkFile is Metas of an open file.
func checkFile(f *boltfile.File, err error) error {
	if err != nil {
		return Damaged(err)
	}
	if f.Metas() < 2 {
		return Damaged("one of the two meta pages is unreadable")
	}
	if want := int64(f.Meta().Pages) * int64(f.Meta().PageSize); f.Size() < want {
		return Damaged(fmt.Sprintf("the file has %d bytes of %d", f.Size(), want))
	}
	if err := f.CheckFreelist(); err != nil {
		return Damaged(err)
	}
	return nil
}

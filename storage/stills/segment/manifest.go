package segment

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"vmsbridge/storage/vfs"
)

// ErrManifest is returned where both slots of a manifest are damaged.
var ErrManifest = errors.New("the list of segments is damaged: a segment that is lost would not be missed")

// ReadManifest reads the manifest in dir: the newer of its slots that is good. Without one, as in a
// ring of the version before, its Sequence is 0. ErrManifest: neither is good.
func ReadManifest(files vfs.FS, dir string) (m Manifest, err error) {
	f, err := files.Open(filepath.Join(dir, ManifestName), false)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	bad := 0
	for slot := range int64(2) {
		p := make([]byte, ManifestSlot)
		if _, err := f.ReadAt(p, slot*ManifestSlot); err != nil && !errors.Is(err, io.EOF) {
			return Manifest{}, err
		}
		if s, err := DecodeManifest(p); err == nil {
			if s.Sequence > m.Sequence {
				m = s
			}
		} else if slices.Max(p) > 0 {
			bad++ // or a power cut tore the first one that was written
		}
	}
	if m.Sequence == 0 && bad == 2 {
		return m, ErrManifest
	}
	return m, nil
}

// WriteManifest writes the manifest into the slot of its Sequence, durably. The other slot keeps
// the one before, for the case that the power goes meanwhile. Sequence 1 begins a new file.
func WriteManifest(files vfs.FS, dir string, m Manifest) error {
	name := filepath.Join(dir, ManifestName)
	f, err := files.Open(name, true)
	if m.Sequence == 1 && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			_ = f.Close()
		}
		if err := files.Remove(name); err != nil { // also what is no file
			return err
		}
		err = fs.ErrNotExist
	}
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		f, err = files.Create(name, 2*ManifestSlot)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(m.Encode(), int64(m.Sequence%2)*ManifestSlot)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && isNew {
		err = files.SyncDir(dir)
	}
	return err
}

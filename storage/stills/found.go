package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// loaded is a segment that was found, and what its file says.
type loaded struct {
	segFile
	broken   error    // why nothing of it can be read
	listing  *listing // sealed: the index, from the disk
	draft    *draft   // not sealed: what the records say
	block    block    // of the header, or of the footer if that is all that is left
	sealed   bool
	sealedAt int64  // when it was full, by the clock of that time; 0: not known
	whole    bool   // the file has its size, so that it can be written
	lame     bool   // one of its two ends is damaged
	trouble  error  // the device refused a read: nothing is written to the segment, for what was not read may be there
	end      uint32 // where the next record would go
	scan     scan   // if it was scanned
}

// newLoaded is a segment's file of which nothing was read yet.
func newLoaded(dir string, e vfs.Entry, number uint64) *loaded {
	return &loaded{segFile: segFile{number: number, path: filepath.Join(dir, e.Name), size: e.Size}}
}

// read makes the index from the records.
func (l *loaded) read(f io.ReaderAt) {
	l.draft = newDraft(l.block.version)
	l.scan = scanRecords(f, l.salt, l.limit, func(r record, at uint32, camera, body []byte) { l.draft.addRecord(r, at, camera, body) })
	l.end = l.scan.end
	if l.scan.err != nil {
		l.trouble = l.scan.err
	}
}

func (l *loaded) refused(err error) {
	if errors.Is(err, errRefused) {
		l.trouble = err
	}
}

// identify reads the two blocks and believes what one of them says at least.
func (l *loaded) identify(f io.ReaderAt) error {
	head, headErr := readBlock(f, 0, headMagic)
	foot, footErr := readBlock(f, l.size-blockBytes, footMagic)
	for _, err := range []error{footErr, headErr} {
		l.refused(err)
		if newer, ok := errors.AsType[*VersionError](err); ok {
			return newer
		}
	}
	if headErr == nil && footErr == nil && head.number != foot.number && filepath.Base(l.path) == segmentName(l.number) {
		// The disk wrote one of them elsewhere. The name says which is right.
		switch l.number {
		case foot.number:
			headErr = errOtherEnd
		case head.number:
			footErr = errOtherEnd
		}
	}
	switch {
	case headErr != nil && footErr != nil:
		return fmt.Errorf("neither of its ends can be read: %w; %w", headErr, footErr)
	case footErr == nil:
		l.block = foot
	default:
		l.block = head
	}
	if l.block.number != l.number {
		return fmt.Errorf("it is named %d, but says that it is number %d", l.number, l.block.number)
	}
	if headErr == nil && footErr == nil && head.salt != foot.salt {
		return errors.New("its two ends are of different segments")
	}
	l.whole = int64(l.block.capacity) == l.size
	l.lame = headErr != nil || footErr != nil
	l.salt, l.lane, l.era, l.shift = l.block.salt, int(l.block.lane), l.block.era, l.block.shift
	l.limit = uint32(min(l.size, int64(l.block.capacity)-blockBytes))
	return nil
}

// errOtherEnd is what one end of a segment reads as that is of another.
var errOtherEnd = errors.New("it is an end of another segment")

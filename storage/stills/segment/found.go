package segment

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// Found is a segment that was found, and what its file says.
type Found struct {
	File
	Broken   error    // why nothing of it can be read
	Listing  *Listing // sealed: the index, from the disk
	Draft    *Draft   // not sealed: what the records say
	Block    Block    // of the header, or of the footer if that is all that is left
	Sealed   bool
	SealedAt int64  // when it was full, by the clock of that time; 0: not known
	Whole    bool   // the file has its size, so that it can be written
	Lame     bool   // one of its two ends is damaged
	Trouble  error  // the device refused a read: nothing is written to the segment, for what was not read may be there
	End      uint32 // where the next record would go
	Scan     Scan   // if it was scanned
}

// NewFound is a segment's file of which nothing was read yet.
func NewFound(dir string, e vfs.Entry, number uint64) *Found {
	return &Found{File: File{Number: number, Path: filepath.Join(dir, e.Name), Size: e.Size}}
}

// Read makes the index from the records.
func (l *Found) Read(f io.ReaderAt) {
	l.Draft = NewDraft()
	l.Scan = Records(f, l.Salt, l.Limit, func(r Record, at uint32, camera, body []byte) {
		l.Draft.AddRecord(r, at, camera, body)
	})
	l.End = l.Scan.end
	if l.Scan.Err != nil {
		l.Trouble = l.Scan.Err
	}
}

func (l *Found) refused(err error) {
	if errors.Is(err, errRefused) {
		l.Trouble = err
	}
}

// Identify reads the two blocks and believes what one of them says at least.
func (l *Found) Identify(f io.ReaderAt) error {
	head, headErr := readBlock(f, 0, HeadMagic)
	foot, footErr := readBlock(f, l.Size-BlockBytes, FootMagic)
	for _, err := range []error{footErr, headErr} {
		l.refused(err)
		if newer, ok := errors.AsType[*VersionError](err); ok {
			return newer
		}
	}
	if headErr == nil && footErr == nil && head.Number != foot.Number &&
		filepath.Base(l.Path) == SegmentName(l.Number) {
		// The disk wrote one of them elsewhere. The name says which is right.
		switch l.Number {
		case foot.Number:
			headErr = errOtherEnd
		case head.Number:
			footErr = errOtherEnd
		}
	}
	switch {
	case headErr != nil && footErr != nil:
		return fmt.Errorf("neither of its ends can be read: %w; %w", headErr, footErr)
	case footErr == nil:
		l.Block = foot
	default:
		l.Block = head
	}
	if l.Block.Number != l.Number {
		return fmt.Errorf("it is named %d, but says that it is number %d", l.Number, l.Block.Number)
	}
	if headErr == nil && footErr == nil && head.Salt != foot.Salt {
		return errors.New("its two ends are of different segments")
	}
	l.Whole = int64(l.Block.Capacity) == l.Size
	l.Lame = headErr != nil || footErr != nil
	l.Salt, l.Lane, l.Era, l.Shift = l.Block.Salt, int(l.Block.Lane), l.Block.Era, l.Block.Shift
	l.Limit = uint32(min(l.Size, int64(l.Block.Capacity)-BlockBytes))
	return nil
}

// errOtherEnd is what one end of a segment reads as that is of another.
var errOtherEnd = errors.New("it is an end of another segment")

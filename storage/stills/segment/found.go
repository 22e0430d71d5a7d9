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
	Lame     bool   // one of its two ends is damaged, or cut off
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

// Identify reads the two blocks and believes what one of them says at least. A segment whose ends
// agree on another number than its name's was renamed, or copied, and is as good as any.
func (l *Found) Identify(f io.ReaderAt) error {
	head, headErr := readBlock(f, 0, HeadMagic)
	size := l.Size
	if headErr == nil {
		size = min(size, int64(head.Capacity)) // something may have grown behind it
	}
	foot, footErr := readBlock(f, size-BlockBytes, FootMagic)
	for _, err := range []error{footErr, headErr} {
		l.refused(err)
		if newer, ok := errors.AsType[*VersionError](err); ok {
			return newer
		}
	}
	if headErr != nil || footErr != nil || head.Number != foot.Number || head.Salt != foot.Salt {
		// The disk may have written one of them elsewhere. The name says which is right.
		if headErr == nil && head.Number != l.Number {
			headErr = errOtherEnd
		}
		if footErr == nil && foot.Number != l.Number {
			footErr = errOtherEnd
		}
		if headErr == nil && footErr == nil {
			headErr, footErr = errOtherEnd, errOtherEnd
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
	l.Lame = headErr != nil || footErr != nil
	l.Salt, l.Lane, l.Era, l.Shift = l.Block.Salt, int(l.Block.Lane), l.Block.Era, l.Block.Shift
	l.Limit = uint32(min(l.Size, int64(l.Block.Capacity)-BlockBytes))
	return nil
}

// errOtherEnd is what one end of a segment reads as that is of another.
var errOtherEnd = errors.New("it is an end of another segment")

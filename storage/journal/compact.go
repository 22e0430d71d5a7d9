package journal

import (
	"context"
	"fmt"

	"vmsbridge/storage/journal/file"
)

// Compact writes the file anew without its free pages if it is larger than Options.CompactAbove and
// more than half of it is free; else it does nothing. It is file.File's Compact, and like that
// goes on beside all other calls.
func (j *Journal) Compact(ctx context.Context) (file.Compaction, error) {
	s, err := j.OutboxStats()
	if err != nil {
		return file.Compaction{}, fmt.Errorf("compact journal: %w", err)
	}
	if s.Bytes < j.opts.CompactAbove || s.Free <= s.Bytes/2 {
		return file.Compaction{Before: s.Bytes, After: s.Bytes}, nil
	}
	return j.file.Compact(ctx)
}

package journal

import (
	"context"
	"fmt"

	"vmsbridge/storage/journal/vault"
)

// Compact writes the file anew without its free pages if it is larger than Options.CompactAbove and
// more than half of it is free; else it does nothing. It is vault.File's Compact, and like that
// goes on beside all other calls.
func (j *Journal) Compact(ctx context.Context) (vault.Compaction, error) {
	s, err := j.OutboxStats()
	if err != nil {
		return vault.Compaction{}, fmt.Errorf("compact journal: %w", err)
	}
	if s.Bytes < j.opts.CompactAbove || s.Free <= s.Bytes/2 {
		return vault.Compaction{Before: s.Bytes, After: s.Bytes}, nil
	}
	return j.file.Compact(ctx)
}

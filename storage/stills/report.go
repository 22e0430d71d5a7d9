package stills

import "fmt"

// Report is what Check found.
type Report struct {
	Segments int
	Stills   int
	Notes    int   // gaps, and marks of pruned series
	Bytes    int64 // on disk
	// TornRecords stand at the end of a segment, with a good header and a bad body: a power cut's,
	// and no problem.
	TornRecords int
	// Unsealed segments have no index yet: those being written, and after a crash some more, to
	// which the next start gives one.
	Unsealed     int
	ForeignFiles []string
	Problems     []Problem
	// Torn is what a power cut cut off: no problem. The next start puts it right, and only stills
	// of the last seconds are missing.
	Torn []Problem
	// Missing are the numbers of segments that are not there and were not dropped.
	Missing []uint64
	// Repairs has a sentence for each thing that Repair did. Check leaves it empty.
	Repairs []string
}

// Problem is something that is not as it should be.
type Problem struct {
	Path   string
	Offset int64 // -1 where no place is to blame
	What   string
}

func (p Problem) String() string {
	if p.Offset < 0 {
		return p.Path + ": " + p.What
	}
	return fmt.Sprintf("%s: at %d: %s", p.Path, p.Offset, p.What)
}

// Clean says that nothing is wrong.
func (r Report) Clean() bool { return len(r.Problems) == 0 }

func (r *Report) add(path string, offset int64, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{path, offset, fmt.Sprintf(format, args...)})
}

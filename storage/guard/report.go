package guard

import "fmt"

// Report is what is wrong in a file.
type Report struct {
	Bytes int64
	// Problems has a sentence for each thing that is not as it should be, up to 100.
	Problems []string
}

const maxProblems = 100

// Clean says that nothing is wrong.
func (r Report) Clean() bool { return len(r.Problems) == 0 }

// Addf adds a problem.
func (r *Report) Addf(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

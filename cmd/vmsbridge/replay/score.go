package replay

// Span is one that was found, in pictures, both ends inclusive.
type Span struct{ Start, End int }

// Verdict is what became of one labelled motion. Its fields are as they stand in the JSON of
// vmsbridge replay.
type Verdict struct {
	StartFrame int    `json:"start_frame"` // of the label
	EndFrame   int    `json:"end_frame"`
	Tolerance  int    `json:"tol_frames"`
	Note       string `json:"note,omitempty"`
	Found      bool   `json:"found"`
	// Merged: the span that covers it is that of a labelled motion before.
	Merged bool `json:"merged,omitempty"`
	// Splits counts the further spans that begin within the motion.
	Splits int `json:"splits"`
	// FoundStart and FoundEnd are the span's; with splits the end is the last one's. -1 if it was
	// missed.
	FoundStart int `json:"found_start_frame"`
	FoundEnd   int `json:"found_end_frame"`
	// OnsetError and EndError are found minus labelled, in pictures: late is positive.
	OnsetError int `json:"onset_error_frames"`
	EndError   int `json:"end_error_frames"`
	// OnsetOK: the error is within the tolerance. EndOK: so is the end's, or it lies in a stretch
	// after the motion that is not scored.
	OnsetOK bool `json:"onset_ok"`
	EndOK   bool `json:"end_ok"`
}

// Score is how the spans compare with the labels. Precision is the share of the spans that are not
// starts in quiet, of those and the motions found; recall is the share of the motions that were
// found. Both are 1 where there is nothing to divide by.
type Score struct {
	Motions     []Verdict `json:"motions"`
	Total       int       `json:"motion_total"`
	Found       int       `json:"found"`
	Missed      int       `json:"missed"`
	Merged      int       `json:"merged"`
	Splits      int       `json:"splits"`
	QuietStarts []int     `json:"quiet_starts"`     // pictures in which a span began though nothing moved
	Standing    int       `json:"in_present_still"` // spans that began there; not scored
	Residual    int       `json:"in_residual"`      // spans that began there; not scored
	Unlabelled  int       `json:"in_unlabelled"`    // spans that began where no label is, or between two; not scored
	Precision   float64   `json:"precision"`
	Recall      float64   `json:"recall"`
	OnsetOK     int       `json:"onsets_in_tolerance"`
	EndOK       int       `json:"ends_in_tolerance"`
}

// Perfect says that every motion was found as one span, and nothing began in quiet.
func (s Score) Perfect() bool { return s.Missed == 0 && s.Splits == 0 && len(s.QuietStarts) == 0 }

// ScoreSpans compares. A motion is found if a span overlaps it, widened by its tolerance at both
// ends; each span belongs to the first motion that it overlaps, and only what is left over can be
// a merged one. Spans come in any order.
func ScoreSpans(labels []Label, spans []Span) Score {
	s := Score{Motions: []Verdict{}, QuietStarts: []int{}}
	owner := make([]int, len(spans)) // 1 + the index of the motion's label
	for i, l := range labels {
		if l.Kind != Motion {
			continue
		}
		for k, sp := range spans {
			if owner[k] == 0 && overlaps(sp, l) {
				owner[k] = i + 1
			}
		}
	}
	for i, l := range labels {
		if l.Kind == Motion {
			s.add(verdict(labels, i, l, spans, owner))
		}
	}
	for k, sp := range spans {
		if owner[k] != 0 && withinWidened(sp.Start, labels[owner[k]-1]) {
			continue
		}
		s.begun(labels, sp.Start, owner[k] != 0)
	}
	s.Precision, s.Recall = ratio(s.Found, s.Found+len(s.QuietStarts)), ratio(s.Found, s.Total)
	return s
}

func (s *Score) add(v Verdict) {
	s.Motions = append(s.Motions, v)
	s.Total++
	s.Splits += v.Splits
	switch {
	case v.Found:
		s.Found++
	default:
		s.Missed++
	}
	for _, c := range []struct {
		is bool
		n  *int
	}{{v.Merged, &s.Merged}, {v.OnsetOK, &s.OnsetOK}, {v.EndOK, &s.EndOK}} {
		if c.is {
			*c.n++
		}
	}
}

// begun counts a span that did not begin with a motion, by where it began.
func (s *Score) begun(labels []Label, at int, hasMotion bool) {
	for _, l := range labels {
		if at < l.Start || at > l.End {
			continue
		}
		switch {
		case l.Kind == PresentStill:
			s.Standing++
			return
		case l.Kind == Residual:
			s.Residual++
			return
		case l.Kind == Quiet && at >= l.Start+l.Tolerance && at <= l.End-l.Tolerance:
			s.QuietStarts = append(s.QuietStarts, at)
			return
		}
	}
	if !hasMotion {
		s.Unlabelled++
	}
}

func verdict(labels []Label, i int, l Label, spans []Span, owner []int) Verdict {
	v := Verdict{StartFrame: l.Start, EndFrame: l.End, Tolerance: l.Tolerance, Note: l.Note, FoundStart: -1,
		FoundEnd: -1}
	best := -1
	for k, sp := range spans {
		if owner[k] == i+1 && (best < 0 || sp.Start < spans[best].Start) {
			best = k
		}
	}
	if best < 0 {
		for k, sp := range spans {
			if overlaps(sp, l) && (best < 0 || sp.Start > spans[best].Start) {
				best, v.Merged = k, true
			}
		}
		if best < 0 {
			return v
		}
	}
	v.Found, v.FoundStart, v.FoundEnd = true, spans[best].Start, spans[best].End
	for k, sp := range spans {
		if k == best || owner[k] != i+1 {
			continue
		}
		if sp.Start > l.Start-l.Tolerance && sp.Start <= l.End-l.Tolerance {
			v.Splits++
			v.FoundEnd = max(v.FoundEnd, sp.End)
		}
	}
	v.OnsetError, v.EndError = v.FoundStart-l.Start, v.FoundEnd-l.End
	v.OnsetOK = abs(v.OnsetError) <= l.Tolerance
	v.EndOK = abs(v.EndError) <= l.Tolerance || v.EndError > 0 && unscored(labels, l.End, v.FoundEnd)
	return v
}

// unscored tells whether all pictures after from, up to to, lie in stretches that are not scored,
// give or take their tolerance.
func unscored(labels []Label, from, to int) bool {
	for _, l := range labels {
		if l.Start > from && l.Start-l.Tolerance <= from+1 && (l.Kind == PresentStill || l.Kind == Residual) {
			if to <= l.End+l.Tolerance {
				return true
			}
			from = l.End
		}
	}
	return false
}

func overlaps(s Span, l Label) bool {
	return s.Start <= l.End+l.Tolerance && s.End >= l.Start-l.Tolerance
}

func withinWidened(at int, l Label) bool { return at >= l.Start-l.Tolerance && at <= l.End+l.Tolerance }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func abs(v int) int { return max(v, -v) }

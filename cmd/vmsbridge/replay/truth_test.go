package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const sample = `# source: yard.mp4
start_frame,end_frame,start_s,end_s,kind,tol_frames,note
0,59,0.0,6.0,quiet,1,
60,80,6.0,8.1,motion,2,walks in, "slowly"
81,180,8.1,18.1,present_still,5,stands
181,197,18.1,19.8,motion,2,walks out
198,204,19.8,20.5,residual,2,shadow
205,300,20.5,30.1,quiet,1,
`

func labels(t testing.TB) []Label {
	l, err := ReadLabels("yard.csv", strings.NewReader(sample))
	require.NoError(t, err)
	return l
}

func TestRead(t *testing.T) {
	l := labels(t)
	require.Len(t, l, 6)
	require.Equal(t, Label{Start: 60, End: 80, Tolerance: 2, Kind: Motion, Note: "walks in", Line: 4}, l[1])
	// Other orders and fewer columns, as other programs write them.
	l, err := ReadLabels("x", strings.NewReader("\ufeffkind,End_Frame,start_frame\r\nmotion,20,10\r\nquiet,9,0\r\n"))
	require.NoError(t, err)
	require.Equal(t, []Label{{Start: 0, End: 9, Kind: Quiet, Line: 3}, {Start: 10, End: 20, Kind: Motion, Line: 2}}, l)
	// As spreadsheets write them: with a mark before everything, names in quotes, and lines without
	// anything.
	for _, text := range []string{"\ufeff# yard\n\"start_frame\",\"end_frame\",\"kind\"\n\n1,2,motion\n",
		"\ufeff\"start_frame\",end_frame,kind,,\r\n1,2,motion,,\r\n,,,,\r\n   \r\n"} {
		l, err = ReadLabels("x", strings.NewReader(text))
		require.NoError(t, err, "%q", text)
		require.Len(t, l, 1, "%q", text)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", "no label"},
		"comments":     {"# x\n", "no label"},
		"no kind":      {"start_frame,end_frame\n1,2\n", "x.csv:1:1: the first line names no column kind"},
		"unknown kind": {"start_frame,end_frame,kind\n1,2,walking\n", `x.csv:2:5: there is no kind "walking"`},
		"not a number": {"start_frame,end_frame,kind\n1,two,motion\n", `x.csv:2:3: end_frame is "two"`},
		"negative":     {"start_frame,end_frame,kind\n-1,2,motion\n", "x.csv:2:1: start_frame"},
		"backwards": {"start_frame,end_frame,kind\n0,5,quiet\n9,2,motion\n",
			"x.csv:3:3: it ends (2) before it starts (9)"},
		"short line":    {"start_frame,end_frame,kind\n1\n", "x.csv:2"},
		"bad tolerance": {"start_frame,end_frame,kind,tol_frames\n1,2,motion,x\n", "tol_frames"},
		"not a table":   {"\x00\x01\x02", "x.csv:1:1"},
		"open quote": {"start_frame,end_frame,kind,note\n1,2,motion,\"walks in\n5,6,motion,walks out\n",
			"x.csv:2:12: the text that a quotation mark begins"},
		"semicolons": {"start_frame;end_frame;kind\n1;2;motion\n", "save the table with commas"},
		"twice":      {"kind,start_frame,end_frame,Kind\nmotion,1,2,quiet\n", "x.csv:1:28: there are two columns kind"},
	} {
		_, err := ReadLabels("x.csv", strings.NewReader(c.text))
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestRate(t *testing.T) {
	for name, c := range map[string]struct {
		spans []Span
		check func(t *testing.T, s Score)
	}{
		"as labelled": {[]Span{{60, 80}, {181, 197}}, func(t *testing.T, s Score) {
			require.True(t, s.Perfect())
			require.Equal(t, []int{2, 2, 2}, []int{s.Found, s.OnsetOK, s.EndOK})
			require.Equal(t, []float64{1, 1}, []float64{s.Precision, s.Recall})
		}},
		"nothing": {nil, func(t *testing.T, s Score) {
			require.Equal(t, 2, s.Missed)
			require.Zero(t, s.Recall)
			require.Equal(t, -1, s.Motions[0].FoundStart)
			require.False(t, s.Perfect())
		}},
		"at the edge of the tolerance": {[]Span{{58, 82}, {183, 199}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{2, 2, 2}, []int{s.Found, s.OnsetOK, s.EndOK})
		}},
		"beyond the tolerance": {[]Span{{63, 77}, {184, 190}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{2, 0, 0}, []int{s.Found, s.OnsetOK, s.EndOK})
			require.Equal(t, []int{3, -3}, []int{s.Motions[0].OnsetError, s.Motions[0].EndError})
		}},
		"late end where it is not scored": {[]Span{{60, 120}, {181, 206}}, func(t *testing.T, s Score) {
			require.Equal(t, 2, s.EndOK)
			require.True(t, s.Perfect())
		}},
		"end in quiet": {[]Span{{181, 230}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{1, 1, 0}, []int{s.Found, s.Missed, s.EndOK})
			require.Empty(t, s.QuietStarts)
		}},
		"split": {[]Span{{60, 65}, {70, 80}, {181, 197}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{2, 1}, []int{s.Found, s.Splits})
			require.Equal(t, 80, s.Motions[0].FoundEnd)
			require.False(t, s.Perfect())
		}},
		"one span for both": {[]Span{{60, 197}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{2, 1, 0}, []int{s.Found, s.Merged, s.Missed})
			require.True(t, s.Motions[1].Merged)
		}},
		"in quiet": {[]Span{{20, 25}, {60, 80}, {181, 197}, {250, 260}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{20, 250}, s.QuietStarts)
			require.Equal(t, 0.5, s.Precision)
			require.False(t, s.Perfect())
		}},
		"too early, out of quiet": {[]Span{{50, 80}, {181, 197}}, func(t *testing.T, s Score) {
			require.Equal(t, []int{50}, s.QuietStarts)
			require.Equal(t, 2, s.Found)
		}},
		"what is not scored": {[]Span{{60, 80}, {100, 110}, {181, 197}, {200, 203}, {400, 410}},
			func(t *testing.T, s Score) {
				require.True(t, s.Perfect())
				require.Equal(t, []int{1, 1, 1}, []int{s.Standing, s.Residual, s.Unlabelled})
			}},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, ScoreSpans(labels(t), c.spans)) })
	}
}

// The totals agree with each other, whatever comes, and labels as spans are perfect.
func TestRateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ls []Label
		var exact []Span
		at := 0
		for range rapid.IntRange(0, 8).Draw(t, "labels") {
			l := Label{Start: at, End: at + rapid.IntRange(6, 60).Draw(t, "length"), Tolerance: 2,
				Kind: rapid.SampledFrom([]LabelKind{Motion, Quiet, PresentStill, Residual}).Draw(t, "kind")}
			if n := len(ls); n > 0 && ls[n-1].Kind == Motion && l.Kind == Motion {
				l.Kind = Quiet
			}
			if l.Kind == Motion {
				exact = append(exact, Span{l.Start, l.End})
			}
			ls, at = append(ls, l), l.End+1
		}
		require.True(t, ScoreSpans(ls, exact).Perfect())
		var spans []Span
		for range rapid.IntRange(0, 10).Draw(t, "spans") {
			s := rapid.IntRange(0, at+20).Draw(t, "start")
			spans = append(spans, Span{s, s + rapid.IntRange(0, 90).Draw(t, "span")})
		}
		s := ScoreSpans(ls, spans)
		require.Equal(t, len(exact), s.Total)
		require.Equal(t, s.Total, s.Found+s.Missed)
		require.LessOrEqual(t, len(s.QuietStarts)+s.Standing+s.Residual+s.Unlabelled, len(spans))
		require.LessOrEqual(t, s.Merged, s.Found)
		if len(spans) > 0 {
			require.GreaterOrEqual(t, ScoreSpans(ls, spans).Found, ScoreSpans(ls, spans[1:]).Found,
				"one more span never finds less")
		}
	})
}

func TestSharedLabels(t *testing.T) {
	dir := os.Getenv("VMSBRIDGE_CLIPS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "clips")
	}
	f, err := os.Open(filepath.Join(dir, "one-by-one-person-detection.csv"))
	if err != nil {
		t.Skip("the shared clips are not there; set VMSBRIDGE_CLIPS to their folder")
	}
	defer func() { _ = f.Close() }()
	l, err := ReadLabels("shared", f)
	require.NoError(t, err)
	n := 0
	for _, l := range l {
		if l.Kind == Motion {
			n++
		}
	}
	require.Equal(t, 12, n)
}

func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add("start_frame,end_frame,kind\n1,2,motion\n")
	f.Add("\"\n,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		ls, err := ReadLabels("x", strings.NewReader(text))
		if err != nil {
			return
		}
		for i, l := range ls {
			require.LessOrEqual(t, l.Start, l.End)
			require.True(t, i == 0 || ls[i-1].Start <= l.Start)
		}
		ScoreSpans(ls, []Span{{0, 10}, {5, 7}})
	})
}

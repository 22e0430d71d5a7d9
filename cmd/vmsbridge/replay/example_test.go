package replay_test

import (
	"fmt"
	"strings"

	"vmsbridge/cmd/vmsbridge/replay"
)

// One motion is found, and one span begins where nothing moves.
func ExampleScoreSpans() {
	labels, err := replay.ReadLabels("labels.csv",
		strings.NewReader("start_frame,end_frame,kind\n0,99,quiet\n100,159,motion\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	score := replay.ScoreSpans(labels, []replay.Span{{Start: 20, End: 25}, {Start: 101, End: 158}})
	fmt.Println(score.Found, "of", score.Total, "found; in quiet:", score.QuietStarts)
	// Output: 1 of 1 found; in quiet: [20]
}

package pipeline_test

import (
	"fmt"
	"time"

	"vmsbridge/agent/pipeline"
)

// Of a camera that sends 25 pictures a second, about ten are looked at.
func ExampleSampler() {
	pace, looked := pipeline.NewSampler(10), 0
	for i := range 25 {
		if pace.Due(time.Unix(0, int64(i)*int64(40*time.Millisecond))) {
			looked++
		}
	}
	fmt.Println(looked)
	// Output: 13
}

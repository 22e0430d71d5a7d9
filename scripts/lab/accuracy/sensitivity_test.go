package accuracy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

// TestSensitivity says what is found, and what is false, at each sensitivity: what is found at one
// of them is found at each that is higher.
func TestSensitivity(t *testing.T) {
	if harness.Race {
		t.Skip("the detector alone decides here; the race detector finds nothing in it")
	}
	dir := realDir(t)
	for _, judge := range []bool{false, true} {
		var before tally
		for _, level := range []float64{0.3, 0.5, 0.7, 0.9} {
			c := motion.Config{Sensitivity: level}
			all, _ := realTally(t, dir, judge, "", c)
			made := compositeTally(t, dir, judge, c)
			t.Logf("| %v | %.1f | %d of %d | %d in %.1f min | %d of %d | %d in %.1f min |", judge, level, all.found,
				all.motions, all.alarms, all.quiet/60, made.found, made.motions, made.alarms, made.quiet/60)
			all.add(made)
			for i, hit := range before.hit {
				assert.True(t, !hit || all.hit[i], "judging %v: motion %d is found below %.1f, and not there",
					judge, i, level)
			}
			before = all
		}
		if *makingOnly {
			return
		}
	}
}

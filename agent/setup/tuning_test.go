package setup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

// A mask is drawn and a region named: the file gets both, the bridge reads it at once, and what
// cannot be kept, or was not seen, changes nothing.
func TestTune(t *testing.T) {
	b := newBench(t, begun)
	mask := configs.Polygon{{0, 0}, {1, 0}, {1, 0.1}}
	was, err := b.Tuning("gate")
	require.NoError(t, err)
	change := was
	change.Masks = []configs.Polygon{mask}
	change.Regions = []configs.Region{{ID: "door", Name: "Door: 1", Area: mask}}
	now, err := b.Tune(t.Context(), "gate", change)
	require.NoError(t, err)
	require.NotEqual(t, was.Version, now.Version)
	require.Equal(t, change.Masks, now.Masks)
	require.Equal(t, "Door: 1", now.Regions[0].Name)
	text := strings.Replace(begun, "s3cret-in-the-file\n", "s3cret-in-the-file\n    motion:\n      masks:\n"+
		"        - [[0, 0], [1, 0], [1, 0.1]]\n      regions:\n        - id: door\n          name: \"Door: 1\"\n"+
		"          area: [[0, 0], [1, 0], [1, 0.1]]\n", 1)
	require.Equal(t, text, b.text())
	require.Equal(t, []string{text}, b.reloads)

	// The same again is no change; what somebody else changed meanwhile is not overwritten.
	_, err = b.Tune(t.Context(), "gate", now)
	require.NoError(t, err)
	require.Len(t, b.reloads, 1)
	_, err = b.Tune(t.Context(), "gate", change)
	require.ErrorContains(t, err, "Somebody else changed")
	for why, change := range map[string]func(*Tuning){
		"in order around": func(t *Tuning) { t.Masks = []configs.Polygon{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}} },
		"line break":      func(t *Tuning) { t.Regions = []configs.Region{{ID: "a", Name: "a\nb", Area: mask}} },
		"above 0":         func(t *Tuning) { t.Sensitivity = 0 },
		"no camera":       nil,
		"take it over":    func(*Tuning) { b.problems = []string{"no room"} },
	} {
		wish, id := now, "gate"
		wish.Masks = nil
		if change == nil {
			id = "attic"
		} else {
			change(&wish)
		}
		_, err := b.Tune(t.Context(), id, wish)
		require.ErrorContains(t, err, why)
		require.NotContains(t, err.Error(), "s3cret")
		require.Equal(t, text, b.text())
	}
}

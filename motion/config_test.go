package motion

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPolygonValidate(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		p    Polygon
		want string // "" is good
	}{
		{"triangle", Polygon{{0, 0}, {1, 0}, {0.5, 1}}, ""},
		{"square", Polygon{{0.1, 0.1}, {0.9, 0.1}, {0.9, 0.9}, {0.1, 0.9}}, ""},
		{"other way round", Polygon{{0.1, 0.9}, {0.9, 0.9}, {0.9, 0.1}, {0.1, 0.1}}, ""},
		{"corner that points inwards", Polygon{{0, 0}, {1, 0}, {1, 1}, {0.5, 0.3}, {0, 1}}, ""},
		{"point on a straight side", Polygon{{0, 0}, {0.5, 0}, {1, 0}, {1, 1}}, ""},
		{"empty", nil, "at least 3 points"},
		{"two points", Polygon{{0, 0}, {1, 1}}, "at least 3 points"},
		{"outside", Polygon{{0, 0}, {1.1, 0}, {0.5, 1}}, "point 2 (1.1, 0) is outside"},
		{"negative", Polygon{{0, 0}, {1, 0}, {0.5, -0.1}}, "point 3"},
		{"no number", Polygon{{0, 0}, {1, nan}, {0.5, 1}}, "point 2"},
		{"bow tie", Polygon{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, "crosses itself"},
		{"touches itself", Polygon{{0, 0}, {1, 0}, {0.5, 0.5}, {1, 1}, {0, 1}, {0.5, 0.5}}, "crosses itself"},
		{"there and back", Polygon{{0, 0}, {1, 0}, {0.5, 0}}, "crosses itself"},
		{"spike", Polygon{{0, 0}, {1, 0}, {1, 1}, {1, 0.5}, {0, 0.5}}, "crosses itself"},
		{"point twice", Polygon{{0, 0}, {1, 0}, {1, 0}, {0, 1}}, "points 2 and 3 are the same"},
		{"closed by hand", Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 0}}, "points 4 and 1 are the same"},
		{"no area", Polygon{{0, 0}, {0.0001, 0}, {0, 0.0001}}, "area is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.p.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestPolygonContains(t *testing.T) {
	p := Polygon{{0.2, 0.2}, {0.8, 0.2}, {0.8, 0.8}, {0.5, 0.4}, {0.2, 0.8}}
	require.True(t, p.contains(0.3, 0.5))
	require.False(t, p.contains(0.5, 0.7), "in the notch")
	require.False(t, p.contains(0.1, 0.5))
}

// TestConfigTellsAllProblems: who writes a YAML file wants to see everything that is wrong at once.
func TestConfigTellsAllProblems(t *testing.T) {
	square := Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	require.NoError(t, Config{}.Validate())
	require.NoError(t, Config{Sensitivity: 1, Regions: []Region{{ID: "a", Area: square}},
		Masks: []Polygon{square}}.Validate())
	err := Config{
		Sensitivity: 1.5, QuietPeriod: -1, MinDuration: time.Minute, MaxDuration: time.Second,
		Regions: []Region{{ID: "a", Area: square}, {ID: "a", Area: square, Sensitivity: -1}, {Area: square[:2]}},
		Masks:   []Polygon{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}},
	}.Validate()
	for _, want := range []string{"sensitivity: 1.5 is outside", "quiet period", "maximum duration", "there twice",
		"sensitivity: -1", "region 3: it has no id", "at least 3 points", "mask 1: it crosses itself"} {
		require.ErrorContains(t, err, want)
	}
	_, err = New(Config{Sensitivity: math.NaN()})
	require.ErrorContains(t, err, "check motion settings")
	require.Error(t, Config{Regions: make([]Region, 65)}.Validate())
}

package api

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/setup"
	"vmsbridge/configs"
)

// What the file says goes to the page and comes back as it was; a region that is as keen as the
// camera stays so when that changes.
func TestDrawingsComeBackAsTheyWere(t *testing.T) {
	square := configs.Polygon{{0, 0}, {1, 0}, {1, 1}}
	was := setup.Tuning{Version: "v1"}
	was.Sensitivity, was.Masks = 0.4, []configs.Polygon{square}
	was.Regions = []configs.Region{{ID: "a", Name: "A", Area: square, Sensitivity: 0.8}, {ID: "b", Area: square}}
	was.Lines = []configs.Line{{ID: "c", Name: "C", Points: configs.Polyline(square[:2]), Direction: "a-to-b"}}
	was.Areas = []configs.Area{{ID: "d", Name: "D", Area: square, Intrusion: true, Loiter: 90 * time.Second}}
	require.Equal(t, was, drawingOf(was).tuning())
	loaded := was
	loaded.Regions = []configs.Region{was.Regions[0], was.Regions[1]}
	loaded.Regions[1].Sensitivity = 0.4
	require.Equal(t, was, drawingOf(loaded).tuning())
}

func TestDrawingsThatCannotBeRead(t *testing.T) {
	for _, body := range []string{"", "[]", `{"masks":[[["x",1]]]}`, `{"colour":1}`, `{} {}`,
		`{"version":"` + strings.Repeat("x", tuningBody) + `"}`} {
		_, err := drawn(httptest.NewRequest("PUT", "/web/cameras/gate/motion", strings.NewReader(body)))
		require.ErrorContains(t, err, "one JSON object")
	}
}

package health

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

// A camera that is being connected to for the first time is no problem for a while; one that cannot
// be reached is one at once.
func TestWhichCamerasAreAProblem(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		state camera.State
		since time.Duration
		wrong string
	}{
		{camera.Online, time.Hour, ""},
		{camera.Connecting, 0, ""},
		{camera.Connecting, 14 * time.Second, ""},
		{camera.Connecting, 15 * time.Second, "1 camera is not online: Front gate (connecting)"},
		{camera.Unreachable, 0, "1 camera is not online: Front gate (unreachable)"},
		{Off, time.Hour, ""},
	} {
		r := Report{Time: now, Running: true,
			Cameras: []Camera{{ID: "gate", Name: "Front gate", State: string(c.state), Online: c.state == camera.Online,
				Since: now.Add(-c.since)}}}
		r.Judge()
		if c.wrong == "" {
			require.Empty(t, r.Problems)
			continue
		}
		require.Len(t, r.Problems, 1)
		require.Equal(t, c.wrong, r.Problems[0].Text)
	}
}

// Decoder processes that die one after the other are a problem, and who has them killed has another
// remedy than whose stream breaks them. One now and then is none.
func TestDecodersThatDie(t *testing.T) {
	for deaths, want := range map[codec.Deaths][2]string{
		{Count: 4, Killed: 4}:   {},
		{Count: 20, Killed: 19}: {"are killed, 19 in the last ten minutes", "MemoryMax="},
		{Count: 20, Killed: 3}:  {"die, 20 in the last ten minutes", "look at that camera's stream"},
	} {
		r := Report{Running: true, DecoderDeaths: deaths}
		r.Judge()
		if want[0] == "" {
			require.Empty(t, r.Problems)
			continue
		}
		require.Len(t, r.Problems, 1)
		require.Equal(t, Decoder, r.Problems[0].Kind)
		require.Contains(t, r.Problems[0].Text, want[0])
		require.Contains(t, r.Problems[0].Hint, want[1])
	}
}

// Who takes more than a share of decoding, and whose pictures are dropped, is named with the cost
// and what to do; a camera that is only heavy is no problem.
func TestWhoseDecodingIsAProblem(t *testing.T) {
	r := Report{Running: true, Cameras: []Camera{
		{ID: "light", Decoding: &Load{Processor: 0.1, Share: 0.25}},
		{ID: "heavy", Decoding: &Load{Processor: 0.6, Share: 0.8, Alone: true}},
		{ID: "hog", Decoding: &Load{Processor: 0.37, Share: 0.38, Alone: true, KeysOnly: true}},
		{ID: "late", Losing: 0.31},
		{ID: "huge", MainRefused: "cannot decode h264: it is too large: use preview_url's"},
	}}
	var texts, hints []string
	r.Judge()
	for _, p := range r.Problems {
		if p.Kind == Cameras { // none of them has a state here
			continue
		}
		require.Equal(t, Decoding, p.Kind)
		require.NotContains(t, p.Public, "hog")
		require.NotContains(t, p.Public, "late")
		require.NotContains(t, p.Public, "huge")
		texts, hints = append(texts, p.Text), append(hints, p.Hint)
	}
	require.Equal(t, []string{
		"hog takes more than its share of decoding time, which is 38 % of a processor, and only its keyframes are " +
			"decoded (37 %)",
		"31 % of the pictures of late were dropped in the last minute, because decoding is behind",
		"the full-resolution stills of huge are missing: cannot decode h264: it is too large: use preview_url's",
	}, texts)
	for _, hint := range hints {
		require.Contains(t, hint, "preview_url")
	}
}

// A camera whose packets are lost again and again is named with the share; what to do goes by how
// its stream comes.
func TestWhosePacketsAreLost(t *testing.T) {
	r := Report{Running: true, Cameras: []Camera{
		{ID: "yard", State: "online", Online: true, Transport: "udp", Torn: 0.12},
		{ID: "gate", State: "online", Online: true, Transport: "tcp", Torn: 0.3},
		{ID: "hall", State: "online", Online: true, Transport: "udp"},
	}}
	r.Judge()
	require.Equal(t, []Problem{
		{Kind: Decoding, Public: "packets of a camera are lost on their way, again and again",
			Text: "12 % of the pictures of yard in the last minute are torn, because packets of its stream are lost " +
				"on their way",
			Hint: "set transport: tcp for this camera"},
		{Kind: Decoding, Public: "packets of a camera are lost on their way, again and again",
			Text: "30 % of the pictures of gate in the last minute are torn, because packets of its stream are lost " +
				"on their way",
			Hint: "look at its cable or Wi-Fi and at the switch, or lower its bit rate"},
	}, slices.DeleteFunc(r.Problems, func(p Problem) bool { return p.Kind != Decoding }))
}

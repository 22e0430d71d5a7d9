package mqtt

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

func withLines(o *Options) {
	o.Cameras[0].Lines = []Region{{"drive", "Drive"}}
	o.Cameras[0].Intruded, o.Cameras[0].Loitered = []Region{{"lawn", "Lawn"}}, []Region{{"lawn", "Lawn"}}
}

// Each crossing of a line is heard on the line's topic, once, with its way; what is in an area
// holds the area's sensor.
func TestLinesAndAreas(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	l := listen(t, b)
	s := newSite(t, b.url(), withLines)
	eventually(t, func() bool { return l.last(status) == "online" })
	const intrusion, loitering = "vmsbridge/b1/gate/intrusion/lawn", "vmsbridge/b1/gate/loitering/lawn"
	eventually(t, func() bool { return l.last(intrusion) == "OFF" && l.last(loitering) == "OFF" })

	cross := func(ago time.Duration, line, way string) vms.Event {
		ev := s.event("gate", vms.TypeLineCross, ago, 0,
			vms.LineCrossLine("", line, "Drive", [2][2]float64{{0, 0}, {1, 1}}, "down"), vms.EntryDirection("", way))
		ev.Span, ev.EndTimestamp = false, &ev.StartTimestamp
		require.NoError(t, s.journal.Put(ev, false))
		return ev
	}
	in := cross(2*time.Second, "drive", vms.EntryIn)
	cross(time.Second, "drive", vms.EntryOut)
	cross(0, "elsewhere", vms.EntryIn)
	for _, kind := range []string{vms.TypeIntrusion, vms.TypeLoiter} {
		area, topic := vms.IntrusionArea("", "lawn", "Lawn", nil), intrusion
		if kind == vms.TypeLoiter {
			area, topic = vms.LoiterArea("", "lawn", "Lawn", nil, time.Minute), loitering
		}
		s.put("gate", kind, 0, 0, area)
		eventually(t, func() bool { return l.last(topic) == "ON" })
		s.put("gate", kind, 0, time.Second, area)
		eventually(t, func() bool { return l.last(topic) == "OFF" })
	}
	const line = "vmsbridge/b1/gate/line/drive"
	require.Len(t, l.on(line), 2)
	var got []map[string]string
	for _, payload := range l.on(line) {
		var m map[string]string
		require.NoError(t, json.Unmarshal([]byte(payload), &m))
		got = append(got, m)
	}
	require.Equal(t, map[string]string{"event_type": "a-to-b", "id": in.ID, "time": in.StartTimestamp.String()}, got[0])
	require.Equal(t, "b-to-a", got[1]["event_type"])
	later := listen(t, b)
	eventually(t, func() bool { return later.last(status) == "online" })
	require.Empty(t, later.on(line), "a crossing is of its moment")
}

// An hour old crossing is no news: Home Assistant would take it for one of now.
func TestOldCrossingsAreNoNews(t *testing.T) {
	now, n := time.Now(), names{prefix: "p"}
	ev := vms.Event{Type: vms.TypeLineCross, ActorType: vms.ActorCamera, ActorID: "gate"}
	ev.SetData(vms.LineCrossLine("", "drive", "", [2][2]float64{}, "up"), vms.EntryDirection("", vms.EntryIn))
	m, ok := n.crossed(vms.Queued{Event: ev, Since: now.Add(-time.Second)}, now)
	require.True(t, ok)
	require.Equal(t, "p/gate/line/drive", m.topic)
	require.False(t, m.retain)
	_, ok = n.crossed(vms.Queued{Event: ev, Since: now.Add(-time.Hour)}, now)
	require.False(t, ok)
}

// Home Assistant is told of lines with keys of its schema alone (homeassistant/components/mqtt:
// event.py, schemas.py), and of lines and areas that are gone no more.
func TestDiscoveryOfLines(t *testing.T) {
	t.Parallel()
	o := Options{Cameras: []Camera{{ID: "gate", Name: "Gate"}}}
	withLines(&o)
	n := names{prefix: "vmsbridge/b1", discovery: "homeassistant", bridge: "b1"}
	found := map[string]map[string]any{}
	for _, m := range discovery(n, Bridge{ID: "b1", Name: "Front gate"}, o.Cameras, false) {
		var c map[string]any
		require.NoError(t, json.Unmarshal(m.payload, &c))
		found[m.topic] = c
	}
	const line = "homeassistant/event/vmsbridge_b1_gate_line_drive/config"
	c := found[line]
	require.NotEmpty(t, c["availability"])
	require.NotEmpty(t, c["device"])
	delete(c, "availability")
	delete(c, "device")
	require.Equal(t, map[string]any{"name": "Line Drive", "unique_id": "vmsbridge_b1_gate_line_drive",
		"state_topic": "vmsbridge/b1/gate/line/drive", "event_types": []any{"a-to-b", "b-to-a"},
		"device_class": "motion", "qos": 1.0, "availability_mode": "all",
		"origin": map[string]any{"name": "vmsbridge"}}, c)
	const intrusion = "homeassistant/binary_sensor/vmsbridge_b1_gate_intrusion_lawn/config"
	const loitering = "homeassistant/binary_sensor/vmsbridge_b1_gate_loitering_lawn/config"
	require.Equal(t, "Intrusion Lawn", found[intrusion]["name"])
	require.Equal(t, "Loitering Lawn", found[loitering]["name"])

	gone := map[string]bool{}
	shown := append(discovery(n, Bridge{ID: "b1"}, o.Cameras, false), newBoard(n, o.Cameras).reset(nil, true)...)
	for _, m := range stale((&Broker{names: n}).retained(shown), nil) {
		gone[m.topic] = true
		require.Empty(t, m.payload)
	}
	for _, topic := range []string{line, intrusion, loitering, "vmsbridge/b1/gate/intrusion/lawn",
		"vmsbridge/b1/gate/loitering/lawn"} {
		require.True(t, gone[topic], topic)
	}
}

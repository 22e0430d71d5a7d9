package mqtt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

const image = "vmsbridge/b1/gate/image"

// withPictures gives all cameras pictures that say of which camera and moment they are.
func withPictures(o *Options) {
	for i := range o.Cameras {
		o.Cameras[i].Images = true
	}
	o.Bridge.Page = "https://bridge.example/"
	o.Picture = func(camera string, at time.Time) ([]byte, error) {
		if camera == "yard.2" {
			return nil, errors.New("never recorded")
		}
		return fmt.Appendf(nil, "JPEG-%s-%d", camera, at.UnixMilli()), nil
	}
}

// The picture of a motion that has ended is published once, of its best time, and lies there for
// whoever comes later; what goes on, what is long over and what has no picture shows none.
func TestPictureOfTheLastMotion(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	l := listen(t, b)
	s := newSite(t, b.url(), withPictures)
	s.up()
	s.put("gate", vms.TypeMotion, 2*time.Hour, time.Second)
	s.put("gate", vms.TypeMotion, 0, 0)
	s.put("yard.2", vms.TypeMotion, 0, time.Second)
	eventually(t, func() bool { return len(l.on(events)) == 3 })
	best := began.Add(-50 * time.Second).Truncate(time.Millisecond)
	s.put("gate", vms.TypeMotion, time.Minute, 20*time.Second,
		vms.FullFrameImageURL("", "https://x/y", best, vms.ImagePreview))
	want := fmt.Sprintf("JPEG-gate-%d", best.UnixMilli())
	eventually(t, func() bool { return l.last(image) == want })
	ended := s.put("gate", vms.TypeMotion, 0, time.Second)
	want = fmt.Sprintf("JPEG-gate-%d", ended.StartTimestamp.Add(500*time.Millisecond).UnixMilli())
	eventually(t, func() bool { return l.last(image) == want })
	require.Len(t, l.on(image), 2)
	require.Empty(t, l.on("vmsbridge/b1/yard.2/image"))
	eventually(t, func() bool { return s.home.Status().Waiting == 0 })

	// It stays over a restart, and goes with mqtt.images: false.
	s.stop()
	s.start()
	s.up()
	later := listen(t, b)
	eventually(t, func() bool { return later.last(status) == "online" && later.last(image) == want })
	require.True(t, later.heard()[0].retained)
	s.stop()
	for i := range s.options.Cameras {
		s.options.Cameras[i].Images = false
	}
	s.start()
	s.up()
	last := listen(t, b)
	eventually(t, func() bool { return last.last(status) == "online" })
	require.Empty(t, last.on(image))
	for topic := range configs(t, last) {
		require.NotContains(t, topic, "/image/")
	}
}

// Home Assistant is told of the picture with keys of its schema alone
// (homeassistant/components/mqtt: image.py, schemas.py), and where the page is.
func TestDiscoveryOfPictures(t *testing.T) {
	t.Parallel()
	found := map[string]map[string]any{}
	o := Options{Cameras: []Camera{{ID: "gate", Name: "Gate"}, {ID: "yard.2", Name: "Yard"}}}
	withPictures(&o)
	n := names{prefix: "vmsbridge/b1", discovery: "homeassistant", bridge: "b1"}
	front := Bridge{ID: "b1", Name: "Front gate", Page: "https://bridge.example/"}
	for _, m := range discovery(n, front, o.Cameras, true) {
		var c map[string]any
		require.NoError(t, json.Unmarshal(m.payload, &c))
		found[m.topic] = c
	}
	c := found["homeassistant/image/vmsbridge_b1_yard-2e2_image/config"]
	require.Equal(t, map[string]any{"name": "Last motion", "unique_id": "vmsbridge_b1_yard-2e2_image",
		"image_topic":  "vmsbridge/b1/yard.2/image",
		"content_type": "image/jpeg", "qos": 1.0, "origin": map[string]any{"name": "vmsbridge"},
		"device": map[string]any{"identifiers": []any{"vmsbridge_b1_yard-2e2"}, "name": "Yard",
			"manufacturer": "vmsbridge", "model": "camera",
			"via_device": "vmsbridge_b1", "configuration_url": "https://bridge.example/#/camera/yard.2"}}, c)
	// And of the switches, by switch.py.
	require.Equal(t, map[string]any{"name": "Armed", "unique_id": "vmsbridge_b1_yard-2e2_armed",
		"state_topic": "vmsbridge/b1/yard.2/armed", "command_topic": "vmsbridge/b1/yard.2/armed/set",
		"payload_on": "ON", "payload_off": "OFF", "qos": 1.0, "origin": map[string]any{"name": "vmsbridge"},
		"availability": []any{map[string]any{"topic": "vmsbridge/b1/status", "payload_available": "online",
			"payload_not_available": "offline"}},
		"device": c["device"]}, found["homeassistant/switch/vmsbridge_b1_yard-2e2_armed/config"])
	require.Equal(t, "vmsbridge/b1/armed/set",
		found["homeassistant/switch/vmsbridge_b1_armed/config"]["command_topic"])
	bridge := found["homeassistant/binary_sensor/vmsbridge_b1_connectivity/config"]["device"].(map[string]any)
	require.Equal(t, "https://bridge.example/", bridge["configuration_url"])
}

// A broker that takes no message of that size loses no event by it, and is soon sent no picture.
func TestBrokerThatTakesNoPictures(t *testing.T) {
	t.Parallel()
	b := startBroker(t, "allow_anonymous true", "max_packet_size 20000")
	l := listen(t, b)
	asked := make(chan bool, 1000)
	s := newSite(t, b.url(), func(o *Options) {
		withPictures(o)
		o.Picture = func(string, time.Time) ([]byte, error) {
			asked <- true
			return []byte(strings.Repeat("x", 40_000)), nil
		}
	})
	for n := range 6 {
		ev := s.put("gate", vms.TypeMotion, time.Duration(60-n)*time.Second, time.Second)
		eventually(t, func() bool { got := ids(t, l); return len(got) > 0 && got[len(got)-1] == ev.ID })
	}
	eventually(t, func() bool { return s.home.Status().Waiting == 0 && s.home.Status().Up })
	require.Zero(t, s.home.Status().Refused)
	require.Equal(t, mostRefused, len(asked))
}

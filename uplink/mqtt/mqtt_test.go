package mqtt

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

const (
	motion = "vmsbridge/b1/gate/motion"
	events = "vmsbridge/b1/events"
	status = "vmsbridge/b1/status"
)

// ids are the events heard, as "id" or "id…" for one that goes on.
func ids(t *testing.T, l *listener) (list []string) {
	t.Helper()
	for _, payload := range l.on(events) {
		var ev vms.Event
		require.NoError(t, json.Unmarshal([]byte(payload), &ev))
		if ev.Ongoing() {
			list = append(list, ev.ID+"…")
		} else {
			list = append(list, ev.ID)
		}
	}
	return list
}

func idOf(t *testing.T, payload string) string {
	t.Helper()
	var ev vms.Event
	require.NoError(t, json.Unmarshal([]byte(payload), &ev))
	return ev.ID
}

func TestStatesAndEvents(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	l := listen(t, b)
	s := newSite(t, b.url(), nil)
	eventually(t, func() bool { return l.last(status) == "online" })
	require.Equal(t, []string{"OFF"}, l.on(motion))

	s.put("gate", vms.TypeDeviceStatus, 0, 0, vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusOnline))
	eventually(t, func() bool { return l.last("vmsbridge/b1/gate/connectivity") == "ON" })
	ev := s.put("gate", vms.TypeMotion, 0, 0)
	eventually(t, func() bool { return l.last(motion) == "ON" })
	region := s.put("gate", vms.TypeMotionInRegion, 0, 0, vms.MotionRegion(vms.CreatorMotion, "door", "Door", nil))
	eventually(t, func() bool { return l.last(motion+"/door") == "ON" })
	s.put("gate", vms.TypeTamper, 0, 0)
	eventually(t, func() bool { return l.last("vmsbridge/b1/gate/tamper") == "ON" })
	s.put("elsewhere", vms.TypeMotion, 0, 0)
	s.put("gate", vms.TypeMotion, 0, time.Second)
	s.put("gate", vms.TypeMotionInRegion, 0, time.Second, vms.MotionRegion(vms.CreatorMotion, "door", "Door", nil))
	s.put("gate", vms.TypeTamper, 0, time.Second)
	s.put("gate", vms.TypeDeviceStatus, 0, time.Second,
		vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusOnline))
	for _, topic := range []string{motion, motion + "/door", "vmsbridge/b1/gate/tamper",
		"vmsbridge/b1/gate/connectivity"} {
		eventually(t, func() bool { return l.last(topic) == "OFF" })
		require.Equal(t, []string{"OFF", "ON", "OFF"}, l.on(topic), topic)
	}
	eventually(t, func() bool { return len(l.on(events)) == 9 })
	got := ids(t, l)
	require.Equal(t, ev.ID+"…", got[1])
	require.Contains(t, got, ev.ID)
	require.Contains(t, got, region.ID)
	var back vms.Event
	require.NoError(t, json.Unmarshal([]byte(l.on(events)[1]), &back))
	require.Equal(t, ev, back, "the envelope arrives as it was put")
	eventually(t, func() bool { return s.home.Status().Waiting == 0 })
	eventually(t, func() bool { return s.home.Status().Sent == 9 })

	// What lies there: states, status and what Home Assistant is told, and no event.
	later := listen(t, b)
	eventually(t, func() bool { return later.last(status) == "online" && later.last(motion) == "OFF" })
	require.Empty(t, later.on(events))
	s.stop()
	eventually(t, func() bool { return l.last(status) == "offline" })
}

// Home Assistant is told of each sensor once, with what it needs, and of topics that are there.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	s := newSite(t, b.url(), nil)
	s.up()
	l := listen(t, b)
	eventually(t, func() bool { return l.last(status) == "online" })
	eventually(t, func() bool { return len(configs(t, l)) == 7 })
	found := configs(t, l)
	state := map[string]bool{}
	for _, h := range l.heard() {
		require.True(t, h.retained, h.topic)
		state[h.topic] = true
	}
	unique := map[string]bool{}
	for topic, c := range found {
		require.Regexp(t, `^homeassistant/binary_sensor/[a-zA-Z0-9_-]+/config$`, topic)
		require.True(t, state[c["state_topic"].(string)], c["state_topic"])
		require.False(t, unique[c["unique_id"].(string)])
		unique[c["unique_id"].(string)] = true
		for _, a := range availabilityOf(c) {
			require.True(t, state[a], a)
		}
		require.NotEmpty(t, c["device"].(map[string]any)["identifiers"])
	}
	door := found["homeassistant/binary_sensor/vmsbridge_b1_gate_motion_door/config"]
	require.Equal(t, "motion", door["device_class"])
	require.Equal(t, "Motion Door", door["name"])
	require.Equal(t, "all", door["availability_mode"])
	require.Equal(t, map[string]any{"identifiers": []any{"vmsbridge_b1_gate"}, "name": "Gate",
		"manufacturer": "vmsbridge", "model": "camera",
		"sw_version": "1.2", "via_device": "vmsbridge_b1"}, door["device"])
	require.Contains(t, found, "homeassistant/binary_sensor/vmsbridge_b1_yard-2e2_motion/config")
	require.NotContains(t, found, "homeassistant/binary_sensor/vmsbridge_b1_yard-2e2_tamper/config",
		"it is not watched")

	// The same again: nothing is taken away, not even for a moment, and nothing is written.
	before, err := s.journal.Meta(memoryKey)
	require.NoError(t, err)
	memory := &countingMemory{Memory: s.journal}
	s.stop()
	s.memory = memory
	s.start()
	s.up()
	eventually(t, func() bool { return l.last(status) == "online" && len(l.on(status)) == 3 })
	for _, h := range l.heard() {
		require.NotEmpty(t, h.payload, h.topic)
	}
	require.Zero(t, memory.writes)
	after, err := s.journal.Meta(memoryKey)
	require.NoError(t, err)
	require.Equal(t, before, after)

	// A camera, a region and in the end all of Home Assistant go from the configuration: nothing of
	// them stays behind.
	s.stop()
	s.options.Cameras = []Camera{{ID: "gate", Name: "Gate"}}
	s.start()
	s.up()
	less := listen(t, b)
	eventually(t, func() bool { return less.last(status) == "online" })
	require.Len(t, configs(t, less), 3)
	for _, gone := range []string{"yard", "door", "tamper"} {
		require.NotContains(t, fmt.Sprint(less.heard()), gone)
	}
	s.stop()
	s.options.Discovery, s.options.Prefix = "", "new"
	s.start()
	s.up()
	last := listen(t, b)
	eventually(t, func() bool { return last.last("new/status") == "online" })
	require.Empty(t, configs(t, last))
	require.NotContains(t, fmt.Sprint(last.heard()), "b1")
}

// countingMemory counts what is written.
type countingMemory struct {
	Memory
	writes int
}

func (m *countingMemory) SetMeta(key string, value []byte) error {
	m.writes++
	return m.Memory.SetMeta(key, value)
}

func configs(t *testing.T, l *listener) map[string]map[string]any {
	found := map[string]map[string]any{}
	for _, h := range l.heard() {
		if strings.HasPrefix(h.topic, "homeassistant/") && h.payload != "" {
			var c map[string]any
			require.NoError(t, json.Unmarshal([]byte(h.payload), &c))
			found[h.topic] = c
		}
	}
	return found
}

func availabilityOf(c map[string]any) (topics []string) {
	list, _ := c["availability"].([]any)
	for _, a := range list {
		topics = append(topics, a.(map[string]any)["topic"].(string))
	}
	return topics
}

func TestPlainNamesAreDifferent(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a.b", "a-b", "a_b", "a:b", "a-2eb", "ab", "a--b", "a-2d2eb"} {
		p := plain(id)
		require.Regexp(t, `^[a-zA-Z0-9-]+$`, p)
		require.Empty(t, seen[p], "%s and %s become one", id, seen[p])
		seen[p] = id
	}
}

// A broker that is away, in either way, and a span that ends meanwhile: no ON stays behind, and
// every event arrives in order.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stopped", "killed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := startBroker(t)
			s := newSite(t, b.url(), nil)
			l := listen(t, b)
			s.put("gate", vms.TypeMotion, time.Minute, 0)
			eventually(t, func() bool { return l.last(motion) == "ON" })
			eventually(t, func() bool { return s.home.Status().Waiting == 0 })
			if how == "stopped" {
				b.stop()
			} else {
				b.kill()
			}
			eventually(t, func() bool { return !s.home.Status().Up })
			require.Contains(t, s.home.Status().Problem, "MQTT broker")
			want := []string{s.put("gate", vms.TypeMotion, time.Minute, time.Second).ID}
			for i := range 200 {
				ev := s.put("yard.2", vms.TypeMotion, time.Duration(200-i)*time.Second, 0)
				if i%10 != 9 {
					ev = s.put("yard.2", vms.TypeMotion, time.Duration(200-i)*time.Second, time.Second)
					want = append(want, ev.ID)
				} else {
					want = append(want, ev.ID+"…")
				}
			}
			b.again()
			after := listen(t, b)
			eventually(t, func() bool { return after.last(status) == "online" && after.last(motion) == "OFF" })
			eventually(t, func() bool { return s.home.Status().Waiting == 0 })
			eventually(t, func() bool { return after.last("vmsbridge/b1/yard.2/motion") == "ON" })
			if how == "stopped" { // the listener may have come after the first of them
				require.Subset(t, want, ids(t, after))
			}
			later := listen(t, b)
			eventually(t, func() bool { return later.last(status) == "online" })
			require.Equal(t, "OFF", later.last(motion))
			eventually(t, func() bool { return s.home.Status().Sent == 202 },
				"each once, in its last form, and one twice")
		})
	}
}

// The order of what waited is that of the bridge.
func TestBacklogInOrder(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	l := listen(t, b)
	s := newSite(t, b.url(), nil)
	s.up()
	s.stop()
	var want []string
	for i := range 300 {
		want = append(want, s.put("gate", vms.TypeMotion, time.Duration(3000-10*i)*time.Second, time.Second).ID)
	}
	s.start()
	eventually(t, func() bool { return len(l.on(events)) >= 300 })
	require.Equal(t, want, ids(t, l))
	require.NotContains(t, l.on(motion), "ON", "what is long over is not shown")
}

// A short span that was read late, but not too late, is shown all the same.
func TestShortSpanIsShown(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	s := newSite(t, b.url(), nil)
	s.up()
	l := listen(t, b)
	eventually(t, func() bool { return l.last(motion) == "OFF" })
	s.stop()
	s.put("gate", vms.TypeMotion, time.Second, 0)
	s.put("gate", vms.TypeMotion, time.Second, time.Second)
	s.start()
	eventually(t, func() bool { return len(l.on(motion)) == 4 })
	require.Equal(t, []string{"OFF", "OFF", "ON", "OFF"}, l.on(motion))
	eventually(t, func() bool { return len(l.on(events)) > 0 })
	require.Len(t, l.on(events), 1, "as an event it comes once")
}

// An event whose time is not known yet shows at once, and is told when it is, under the id that it
// then has.
func TestUntrueClock(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	s := newSite(t, b.url(), nil)
	s.up()
	l := listen(t, b)
	eventually(t, func() bool { return l.last(motion) == "OFF" })
	ev := s.event("gate", vms.TypeMotion, 0, 0)
	require.NoError(t, s.journal.Write(journal.Record{Event: ev, Era: 7})[0])
	eventually(t, func() bool { return l.last(motion) == "ON" })
	require.Empty(t, l.on(events))
	_, _, err := s.journal.Settle(7, time.Hour, nil)
	require.NoError(t, err)
	eventually(t, func() bool { return len(l.on(events)) == 1 })
	require.NotContains(t, ids(t, l)[0], ev.ID)
	ev.StartTimestamp = vms.At(ev.StartTimestamp.Add(time.Hour))
	ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Second))
	ev.ID = ev.NaturalID()
	require.NoError(t, s.journal.Put(ev, false))
	eventually(t, func() bool { return l.last(motion) == "OFF" })
	require.Equal(t, []string{"OFF", "ON", "OFF"}, l.on(motion))
	eventually(t, func() bool { return len(l.on(events)) >= 2 })
	require.Equal(t, []string{ev.ID + "…", ev.ID}, ids(t, l))
}

// Two spans that overlap hold ON together.
func TestOverlappingSpans(t *testing.T) {
	b := newBoard(names{prefix: "p"}, []Camera{{ID: "c"}})
	span := func(id string, end bool) vms.Event {
		ev := vms.Event{ID: id, Type: vms.TypeMotion, ActorID: "c", ActorType: vms.ActorCamera}
		if end {
			ev.EndTimestamp = vms.Ptr(began)
		}
		return ev
	}
	apply := func(id string, end bool) []message {
		return b.apply(nil, change(span(id, end), !end), began)
	}
	require.Len(t, b.reset(nil, true), 2)
	require.Len(t, apply("1", false), 1)
	require.Empty(t, apply("2", false))
	require.Empty(t, apply("1", true))
	require.Equal(t, []message{{topic: "p/c/motion", payload: []byte("OFF"), retain: true}}, apply("2", true))
	require.Empty(t, apply("2", true), "it is off already")
	require.Len(t, b.reset([]vms.Event{span("3", false)}, false), 1)
	require.Empty(t, b.reset([]vms.Event{span("3", false)}, false))
}

func TestSignInAndTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeCertificate(t, dir)
	require.NoError(t, os.WriteFile(dir+"/users", nil, 0o600))
	runProgram(t, program(t, "mosquitto_passwd"), "-b", dir+"/users", "bridge", "right")
	b := startBroker(t, "allow_anonymous false", "password_file "+dir+"/users", "certfile "+dir+"/cert.pem",
		"keyfile "+dir+"/key.pem")
	url := "mqtts://" + b.addr()
	password := func(p string) func() (string, error) { return func() (string, error) { return p, nil } }
	for _, c := range []struct {
		name    string
		change  func(*Options)
		problem string
	}{
		{"by authority", func(o *Options) { o.CAFile, o.Password = dir+"/cert.pem", password("right") }, ""},
		{"by pin", func(o *Options) { o.Fingerprint, o.Password = fingerprint(t, dir), password("right") }, ""},
		{"wrong password", func(o *Options) { o.CAFile, o.Password = dir+"/cert.pem", password("wrong-secret") },
			"mqtt.password_file"},
		{"unknown authority", func(o *Options) { o.Password = password("right") }, "mqtt.ca_file"},
		{"wrong pin", func(o *Options) { o.Fingerprint, o.Password = strings.Repeat("ab", 32), password("right") },
			"mqtt.tls_fingerprint"},
		{"plain", func(o *Options) { o.URL, o.Password = b.url(), password("right") }, "MQTT broker"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, url, func(o *Options) {
				o.Username, o.ClientID = "bridge", c.name
				c.change(o)
			})
			if c.problem == "" {
				s.up()
				return
			}
			eventually(t, func() bool { return strings.Contains(s.home.Status().Problem, c.problem) }, "%+v",
				s.home.Status())
			require.NotContains(t, fmt.Sprintf("%+v", s.home.Status()), "wrong-secret")
		})
	}
}

// A broker that takes connections and says nothing holds up nobody, nor the stop.
func TestSilentBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	s := newSite(t, "mqtt://"+l.Addr().String(), nil)
	began := time.Now()
	for i := range 20 {
		s.put("gate", vms.TypeMotion, time.Duration(i)*time.Second, time.Second)
	}
	s.stop()
	require.Less(t, time.Since(began), 2*time.Minute, "and not when the broker answers, which is never")
	require.Equal(t, 20, s.home.Status().Waiting)
}

// An event at which the broker breaks the connection each time is given up, counted, with the
// reason; the others arrive.
func TestEventThatTheBrokerCannotTake(t *testing.T) {
	t.Parallel()
	b := startBroker(t, "allow_anonymous true", "max_packet_size 20000")
	l := listen(t, b)
	s := newSite(t, b.url(), nil)
	big, err := vms.MakeData(map[string]any{"type": "vms.big.v1", "creatorId": "x",
		"text": strings.Repeat("x", 30_000)})
	require.NoError(t, err)
	first := s.put("gate", vms.TypeMotion, 9*time.Second, time.Second)
	s.put("gate", vms.TypeMotion, 6*time.Second, time.Second, big)
	last := s.put("gate", vms.TypeMotion, 3*time.Second, time.Second)
	eventually(t, func() bool { return s.home.Status().Waiting == 0 }, "%+v", s.home.Status())
	eventually(t, func() bool { got := ids(t, l); return len(got) > 0 && got[len(got)-1] == last.ID })
	require.Contains(t, ids(t, l), first.ID)
	require.EqualValues(t, 1, s.home.Status().Refused)
	require.NotEmpty(t, s.home.Status().LastRefused)
}

// A broker may say why it ends a connection; then a person is told. Debian's mosquitto never says
// so, hence this one, which takes everything until the bridge says that it is there, and then says
// that another client came under its name.
func TestWhyTheBrokerEndsTheConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			throwOut(conn)
		}
	}()
	s := newSite(t, "mqtt://"+l.Addr().String(), nil)
	eventually(t, func() bool {
		return strings.Contains(s.home.Status().Problem, "a second bridge with this mqtt.client_id")
	})
	s.stop()
	require.NoError(t, l.Close())
	<-served
}

func throwOut(conn net.Conn) {
	defer conn.Close()
	for {
		p, err := packets.ReadPacket(conn)
		if err != nil {
			return
		}
		switch c := p.Content.(type) {
		case *packets.Connect:
			_, err = packets.NewControlPacket(packets.CONNACK).WriteTo(conn)
		case *packets.Publish:
			ack := packets.NewControlPacket(packets.PUBACK)
			ack.Content.(*packets.Puback).PacketID = c.PacketID
			if _, err = ack.WriteTo(conn); c.Topic == status {
				bye := packets.NewControlPacket(packets.DISCONNECT)
				bye.Content.(*packets.Disconnect).ReasonCode = takenOver
				_, err = bye.WriteTo(conn)
			}
		}
		if err != nil {
			return
		}
	}
}

// A broker that forbids the bridge to publish says so.
func TestForbiddenTopic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/acl", []byte("topic readwrite homeassistant/#\n"), 0o600))
	b := startBroker(t, "allow_anonymous true", "acl_file "+dir+"/acl")
	s := newSite(t, b.url(), nil)
	eventually(t, func() bool {
		return strings.Contains(s.home.Status().Problem, "allow its user to write below vmsbridge/b1")
	}, "%+v", s.home.Status())
}

package mqtt

import (
	"time"

	"vmsbridge/uplink/vms"
)

// fresh is how old a span that has ended may be to be shown ON and OFF all the same.
const fresh = 30 * time.Second

// Payloads of the states.
const (
	on  = "ON"
	off = "OFF"
)

// board is the cameras' present state, as the state topics show it: for each topic the events that
// hold it ON. One goroutine.
type board struct {
	names  names
	topics []string // of what is configured, in order
	holds  map[string]map[string]bool
	shown  map[string]string
}

// newBoard shows nothing yet.
func newBoard(n names, cameras []Camera) *board {
	b := &board{names: n, holds: map[string]map[string]bool{}, shown: map[string]string{}}
	add := func(topic string) {
		b.topics = append(b.topics, topic)
		b.holds[topic] = map[string]bool{}
	}
	for _, c := range cameras {
		add(n.connectivity(c.ID))
		add(n.motion(c.ID))
		for _, r := range c.Regions {
			add(n.region(c.ID, r.ID))
		}
		for _, a := range c.Intruded {
			add(n.intrusion(c.ID, a.ID))
		}
		for _, a := range c.Loitered {
			add(n.loitering(c.ID, a.ID))
		}
		if c.Tamper {
			add(n.tamper(c.ID))
		}
	}
	return b
}

// topicOf is the state topic that an event holds ON while it lasts, "" for none.
func (b *board) topicOf(ev vms.Event) string {
	if ev.ActorType != vms.ActorCamera {
		return ""
	}
	topic := ""
	switch ev.Type {
	case vms.TypeMotion:
		topic = b.names.motion(ev.ActorID)
	case vms.TypeTamper:
		topic = b.names.tamper(ev.ActorID)
	case vms.TypeMotionInRegion:
		topic = b.names.region(ev.ActorID, placeOf(ev, vms.SchemaMotionRegion))
	case vms.TypeIntrusion:
		topic = b.names.intrusion(ev.ActorID, placeOf(ev, vms.SchemaIntrusionArea))
	case vms.TypeLoiter:
		topic = b.names.loitering(ev.ActorID, placeOf(ev, vms.SchemaLoiterArea))
	case vms.TypeDeviceStatus:
		if connectionOf(ev) == vms.StatusOnline {
			topic = b.names.connectivity(ev.ActorID)
		}
	}
	if b.holds[topic] == nil {
		return ""
	}
	return topic
}

// reset makes the board show what goes on, and gives what must be published for it: everything, or
// only what differs.
func (b *board) reset(ongoing []vms.Event, all bool) []message {
	for topic := range b.holds {
		clear(b.holds[topic])
	}
	for _, ev := range ongoing {
		if topic := b.topicOf(ev); topic != "" {
			b.holds[topic][ev.ID] = true
		}
	}
	if all {
		clear(b.shown)
	}
	var list []message
	for _, topic := range b.topics {
		list = b.show(list, topic)
	}
	return list
}

// apply takes an entry and gives what must be published for it.
func (b *board) apply(list []message, q vms.Queued, now time.Time) []message {
	topic := b.topicOf(q.Event)
	if topic == "" {
		return list
	}
	switch {
	case q.Began && (q.Event.Ongoing() || now.Sub(q.Since) < fresh):
		b.holds[topic][q.Event.ID] = true
	case q.Began: // long over, and its end follows
	default:
		delete(b.holds[topic], q.Event.ID)
	}
	return b.show(list, topic)
}

// show appends a topic's state if it is not the one shown.
func (b *board) show(list []message, topic string) []message {
	return b.put(list, topic, len(b.holds[topic]) > 0)
}

// arm appends what is armed, where that is not shown: the bridge while any of its cameras is.
func (b *board) arm(list []message, cameras []Camera, armed map[string]bool) []message {
	any := len(cameras) == 0
	for _, c := range cameras {
		any = any || armed[c.ID]
		list = b.put(list, b.names.armed(c.ID), armed[c.ID])
	}
	return b.put(list, b.names.armed(""), any)
}

func (b *board) put(list []message, topic string, is bool) []message {
	state := off
	if is {
		state = on
	}
	if b.shown[topic] == state {
		return list
	}
	b.shown[topic] = state
	return append(list, message{topic: topic, payload: []byte(state), retain: true})
}

// placeOf is the id of the region, line or area of a schema in an event's data.
func placeOf(ev vms.Event, schema string) string {
	var place struct {
		ID string `json:"id"`
	}
	for _, d := range ev.Data {
		if d.Type == schema && d.Into(&place) == nil {
			return place.ID
		}
	}
	return ""
}

// connectionOf is the connection status in an event's data.
func connectionOf(ev vms.Event) string {
	var status struct {
		NewStatus vms.ConnectionStatus `json:"newStatus"`
	}
	for _, d := range ev.Data {
		if d.Type == vms.SchemaDeviceStatus && d.Into(&status) == nil {
			return status.NewStatus.ConnectionStatus
		}
	}
	return ""
}

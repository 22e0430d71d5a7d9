package mqtt

import (
	"context"
	"time"

	"vmsbridge/uplink/vms"
)

const (
	// pictured is how long ago a motion may have ended for its picture to be published: the picture
	// is that of the last motion, and after an outage the ones before it are nobody's.
	pictured = time.Hour
	// mostRefused is how many pictures a broker may refuse, one after the other, until it is sent
	// none any more: it may take messages of some size only, and end the connection for others.
	mostRefused = 3
)

// publishPictures publishes, for each camera of which a motion ended in the list, the best picture
// of the last one. Pictures come after the events, and what happens to them delays no event.
func (b *Broker) publishPictures(ctx context.Context, list []vms.Queued) {
	if b.refused >= mostRefused {
		return
	}
	for _, c := range b.opts.Cameras {
		at, ok := b.lastMotion(c, list)
		if !ok {
			continue
		}
		jpeg, err := b.opts.Picture(c.ID, at)
		if err != nil || len(jpeg) == 0 {
			b.Log().Debug("there is no picture of a motion", "camera", c.ID, "error", err)
			continue
		}
		_, err = b.line.session.publish(ctx, []message{{topic: b.names.image(c.ID), payload: jpeg, retain: true}})
		switch {
		case err == nil:
			b.refused = 0
		case ctx.Err() != nil:
			return
		default:
			if b.refused++; b.refused == mostRefused {
				b.Log().Warn("the MQTT broker takes no pictures; it gets none until the bridge is started again",
					"error", err,
					"bytes", len(jpeg), "hint",
					"let the broker take messages of that size, or write mqtt.images: false")
			}
			return // a connection that broke is noticed by itself
		}
	}
}

// lastMotion is the best time of the last motion of a camera that ended in the list.
func (b *Broker) lastMotion(c Camera, list []vms.Queued) (at time.Time, ok bool) {
	if !c.Images {
		return at, false
	}
	for _, q := range list {
		ev := q.Event
		if !q.Newest || q.Untrue || ev.Type != vms.TypeMotion || ev.ActorType != vms.ActorCamera ||
			ev.ActorID != c.ID ||
			ev.Ongoing() || ev.EndTimestamp == nil || b.Feed().Now().Sub(ev.EndTimestamp.Time) > pictured {
			continue
		}
		at, ok = bestTime(ev), true
	}
	return at, ok
}

// bestTime is when the picture of an event was taken that shows best what moved.
func bestTime(ev vms.Event) time.Time {
	var frame struct {
		Timestamp vms.Time `json:"timestamp"`
	}
	for _, d := range ev.Data {
		if d.Type == vms.SchemaFullFrame && d.Into(&frame) == nil && !frame.Timestamp.IsZero() {
			return frame.Timestamp.Time
		}
	}
	return ev.StartTimestamp.Add(500 * time.Millisecond)
}

package mqtt

import (
	"context"
	"strings"
)

// set is behind the topic of what can be set.
const set = "/set"

// wish is that somebody at the broker wants a camera armed or disarmed; camera "": all.
type wish struct {
	camera string
	armed  bool
}

// listens subscribes to the wishes, if they are granted. A broker that does not let the bridge
// read gets its events all the same.
func (b *Broker) listens(ctx context.Context, s *session) {
	if b.opts.Arm == nil {
		return
	}
	if err := s.subscribe(ctx, []string{b.names.armed("") + set, b.names.armed("+") + set}); err != nil {
		b.Log().Warn("nobody can arm and disarm cameras by the MQTT broker", "error", err, "hint",
			"allow the bridge's user to read "+b.names.armed("+")+set+", or write mqtt.arm: false")
	}
}

// hear takes what the broker sends, and never waits.
func (b *Broker) hear(topic string, payload []byte) {
	w := wish{armed: strings.EqualFold(string(payload), on)}
	if !w.armed && !strings.EqualFold(string(payload), off) {
		return
	}
	if topic != b.names.armed("")+set {
		for _, c := range b.opts.Cameras {
			if topic == b.names.armed(c.ID)+set {
				w.camera = c.ID
			}
		}
		if w.camera == "" {
			return
		}
	}
	select {
	case b.wishes <- w:
	default: // somebody sends them without end
	}
}

// arms grants what is wished through the broker, and shows there what is armed, until ctx is done.
// Each wish is answered by the state that follows from it, though it may be the one that was.
func (b *Broker) arms(ctx context.Context) {
	answer := ""
	for {
		armed, changed := b.opts.Armed()
		if b.line.take(ctx) != nil {
			return
		}
		if l := &b.line; l.session != nil {
			delete(l.board.shown, answer)
			list := l.board.arm(nil, b.opts.Cameras, armed)
			if _, err := l.session.publish(ctx, list); err != nil {
				l.hangUp() // which is noticed
			}
		}
		b.line.leave()
		answer = ""
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case w := <-b.wishes:
			if err := b.opts.Arm(ctx, w.camera, w.armed); err != nil {
				b.Log().Warn("cameras were not switched as somebody at the MQTT broker wished", "camera", w.camera,
					"armed", w.armed, "error", err)
			}
			answer = b.names.armed(w.camera)
		}
	}
}

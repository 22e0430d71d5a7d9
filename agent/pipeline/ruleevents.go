package pipeline

import (
	"time"

	"vmsbridge/motion/rule"
	"vmsbridge/uplink/vms"
)

// Crossing makes the event of a line that was crossed: a moment.
func (a *author) Crossing(c rule.Change) vms.Event {
	ev := a.event(vms.TypeLineCross, a.crossed.of(c.Start))
	ev.Span, ev.EndTimestamp = false, vms.Ptr(ev.StartTimestamp.Time)
	direction := vms.EntryIn
	if c.Direction == rule.BToA {
		direction = vms.EntryOut
	}
	l := a.lines[c.Rule]
	return a.finish(a.shown(ev, c, "line", vms.LineCrossLine(vms.CreatorMotion, l.ID, l.Name, c.Part, c.Way),
		vms.EntryDirection(vms.CreatorMotion, direction)))
}

// Inside makes the event of a time during which something is in an area, or has been for too long.
// A begun one is ongoing; the end of the same makes the same id.
func (a *author) Inside(c rule.Change) vms.Event {
	area := a.areas[c.Rule]
	ended := func(ev vms.Event) vms.Event {
		if !c.Kind.Began() {
			ev.EndTimestamp = vms.Ptr(later(c.Last, ev.StartTimestamp.Time))
		}
		return ev
	}
	if c.Kind == rule.LoiterBegan || c.Kind == rule.LoiterEnded {
		ev := ended(a.event(vms.TypeLoiter, a.loiters.of(c.Rule, c.Start)))
		return a.finish(a.shown(ev, c, "loitering",
			vms.LoiterArea(vms.CreatorMotion, area.ID, area.Name, area.Outline, area.Loiter)))
	}
	ev := ended(a.event(vms.TypeIntrusion, a.intrusions.of(c.Rule, c.Start)))
	return a.finish(a.shown(ev, c, "intrusion", vms.IntrusionArea(vms.CreatorMotion, area.ID, area.Name, area.Outline),
		vms.EntryDirection(vms.CreatorMotion, vms.EntryIn)))
}

// shown is the event with what of the change is to be seen, behind the items of its own.
func (a *author) shown(ev vms.Event, c rule.Change, label string, own ...vms.Data) (vms.Event, []vms.Data) {
	ev.CreatorID = vms.CreatorMotion
	items := append([]vms.Data{a.creator(vms.CreatorMotion)}, own...)
	items, overlay := a.object(items, nil, label, c.Object, c.BestTime, c.Box)
	items = append(items, a.images(vms.OpAtOrBefore, c.BestTime)...)
	return ev, append(items, vms.BoundingBoxOverlay(overlay))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

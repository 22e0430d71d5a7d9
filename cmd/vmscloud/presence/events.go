package presence

import (
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// application is what the events of this package name as their maker, beside the creator
// vms.systemHealth.
const application = "vmscloud"

// cutOff begins the reason in the mark of an event that was cut off.
const cutOff = "cut off: "

// Device is a bridge or a camera of an account.
type Device struct {
	Account string
	Actor   vms.Actor
}

// BridgeOf and CameraOf name devices.
func BridgeOf(account, id string) Device {
	return Device{account, vms.Actor{Type: vms.ActorBridge, ID: id}}
}

// CameraOf names a camera: see BridgeOf.
func CameraOf(account, id string) Device {
	return Device{account, vms.Actor{Type: vms.ActorCamera, ID: id}}
}

// deviceOf is whom an event is of.
func deviceOf(ev vms.Event) Device {
	return Device{ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}}
}

// state is a status, and since when it is.
type state struct {
	status string
	since  time.Time
}

// next is when the state after this one begins, if it comes at a time or as soon after it as can be
// told, and this one as that has it: two that begin in one millisecond would be one event. One that
// begins in the future, for a clock was ahead, holds nothing up.
func (s state) next(at, now time.Time) (time.Time, state) {
	at = vms.At(at).Time
	switch {
	case s.status == "" || at.After(s.since):
	case s.since.Sub(now) > time.Second:
		s.since = at
	default:
		at = s.since.Add(time.Millisecond)
	}
	return at, s
}

// stateOf is the state that a status event tells; its status is "" for other events.
func stateOf(ev vms.Event) state {
	var s struct {
		NewStatus vms.ConnectionStatus `json:"newStatus"`
	}
	for _, d := range ev.Data {
		if ev.Type == vms.TypeDeviceStatus && d.Type == vms.SchemaDeviceStatus && d.Into(&s) == nil {
			return state{s.NewStatus.ConnectionStatus, ev.StartTimestamp.Time}
		}
	}
	return state{}
}

// previous is the status before the one that a status event tells, "" if it does not say.
func previous(ev vms.Event) string {
	var s vms.ConnectionStatus
	for _, d := range ev.Data {
		if d.Type == vms.SchemaPreviousStatus && d.Into(&s) == nil {
			return s.ConnectionStatus
		}
	}
	return ""
}

// begin makes the event of a device that goes into a status.
func begin(d Device, status string, at time.Time, before state, reason string) vms.Event {
	ev := vms.Event{Type: vms.TypeDeviceStatus, StartTimestamp: vms.At(at), Span: true, AccountID: d.Account,
		ActorID:        d.Actor.ID,
		ActorAccountID: d.Account, ActorType: d.Actor.Type, CreatorID: vms.CreatorHealth, Owner: vms.OwnerSelf}
	ev.SetData(maker(reason), vms.DeviceCloudStatusUpdate(vms.CreatorHealth, status))
	if before.status != "" {
		ev = withPrevious(ev, before)
	}
	ev.ID = ev.NaturalID()
	return ev
}

// withPrevious is a status event that says what was before it.
func withPrevious(ev vms.Event, before state) vms.Event {
	data := slices.DeleteFunc(slices.Clone(ev.Data), func(d vms.Data) bool {
		return d.Type == vms.SchemaPreviousStatus
	})
	since := vms.At(before.since)
	ev.SetData(append(data, vms.DeviceCloudPreviousStatus(vms.CreatorHealth, before.status, since.Time,
		ev.StartTimestamp.Sub(since.Time)))...)
	return ev
}

// end ends a span, not before it began.
func end(ev vms.Event, at time.Time) vms.Event {
	if at.Before(ev.StartTimestamp.Time) {
		at = ev.StartTimestamp.Time
	}
	ev.EndTimestamp = vms.Ptr(at)
	return ev
}

// Cut is a span of a bridge that ended, as far as the service knows, when the bridge was last heard
// of. An item of creator details says so; the bridge's own report of the event does not have it.
func Cut(ev vms.Event, at time.Time) vms.Event {
	data := slices.DeleteFunc(slices.Clone(ev.Data), func(d vms.Data) bool {
		return strings.HasPrefix(reasonOf(d), cutOff)
	})
	ev.SetData(append(data,
		maker(cutOff+"the bridge was not heard of any more; its own report of the event takes the place of this"))...)
	return end(ev, at)
}

// IsCut says whether an event was cut off, and its bridge has not told its end since.
func IsCut(ev vms.Event) bool {
	return slices.ContainsFunc(ev.Data, func(d vms.Data) bool { return strings.HasPrefix(reasonOf(d), cutOff) })
}

// Ours says whether the service itself made a status event.
func Ours(ev vms.Event) bool {
	return ev.Type == vms.TypeDeviceStatus && !IsCut(ev) &&
		slices.ContainsFunc(ev.Data, func(d vms.Data) bool { return reasonOf(d) != "" })
}

func maker(reason string) vms.Data {
	return vms.CreatorDetails(vms.CreatorHealth,
		vms.CreatorInfo{ID: vms.CreatorHealth, Vendor: "vmsbridge", Application: application, Reason: reason})
}

// reasonOf is the reason in an item that the service made, "" in others.
func reasonOf(d vms.Data) string {
	var info vms.CreatorInfo
	if d.Type != vms.SchemaCreatorDetails || d.CreatorID != vms.CreatorHealth || d.Into(&info) != nil ||
		info.Application != application {
		return ""
	}
	return info.Reason
}

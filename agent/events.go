package agent

import (
	"fmt"
	"time"

	"vmsbridge/motion"
	"vmsbridge/uplink/vms"
)

// imageDelay is added to the start of a motion for the address of its image: at its first picture a thing has hardly
// entered the view (interface/events.md §4.5).
const imageDelay = 500 * time.Millisecond

// author makes the events of one camera. Its zero value is of no use; all fields are set once.
type author struct {
	account string
	camera  string
	baseURL string // of the service that will show the images
	version string
	regions map[string]motion.Region
}

// Motion makes the event of a span from what the detector says of it. A begun span is ongoing; the end of the same span
// makes the same id.
func (a *author) Motion(c motion.Change) vms.Event {
	ev := a.event(vms.TypeMotion, c.Start)
	items := []vms.Data{a.creator(vms.CreatorMotion)}
	if c.Region != "" {
		ev.Type = vms.TypeMotionInRegion
		r := a.regions[c.Region]
		items = append(items, vms.MotionRegion(vms.CreatorMotion, r.ID, r.Name, r.Area))
	}
	ev.CreatorID = vms.CreatorMotion
	at := c.BestTime
	if at.IsZero() {
		at = c.Start
	}
	var overlay []vms.OverlayBox
	for i, b := range c.Boxes {
		box := [4]float64{b.Left, b.Top, b.Right, b.Bottom}
		object := vms.ObjectID(vms.ActorCamera, a.camera, fmt.Sprintf("%d-%s-%d", c.Start.UnixMilli(), c.Object, i+1))
		items = append(items, vms.ObjectDetection(vms.CreatorMotion, object, at, box))
		overlay = append(overlay, vms.OverlayBox{Label: "motion", At: at, Box: box})
	}
	image := vms.At(c.Start).Add(imageDelay)
	items = append(items,
		vms.FullFrameImageURL(vms.CreatorMotion, vms.ImageURL(a.baseURL, a.camera, vms.ImagePreview, vms.OpBefore, image), image, vms.ImagePreview),
		vms.FullFrameImageURL(vms.CreatorMotion, vms.ImageURL(a.baseURL, a.camera, vms.ImageMain, vms.OpBefore, image), image, vms.ImageMain))
	if len(overlay) > 0 {
		items = append(items, vms.BoundingBoxOverlay(overlay))
	}
	if c.Kind == motion.Ended {
		end := c.Last
		if end.Before(c.Start) {
			end = c.Start
		}
		ev.EndTimestamp = vms.Ptr(end)
	}
	return a.finish(ev, items)
}

// Status makes the event of a camera's state: ongoing while end is zero. The state before it, if there was one, goes into
// the event too.
func (a *author) Status(s span, end time.Time) vms.Event {
	ev := a.event(vms.TypeDeviceStatus, s.start)
	ev.CreatorID = vms.CreatorHealth
	items := []vms.Data{a.creator(vms.CreatorHealth), vms.DeviceCloudStatusUpdate(vms.CreatorHealth, s.connection)}
	if s.before != "" {
		items = append(items, vms.DeviceCloudPreviousStatus(vms.CreatorHealth, s.before, s.beforeStart, s.start.Sub(s.beforeStart)))
	}
	if !end.IsZero() {
		if end.Before(s.start) {
			end = s.start
		}
		ev.EndTimestamp = vms.Ptr(end)
	}
	return a.finish(ev, items)
}

func (a *author) event(kind string, start time.Time) vms.Event {
	return vms.Event{Type: kind, StartTimestamp: vms.At(start), Span: true, AccountID: a.account, ActorID: a.camera,
		ActorAccountID: a.account, ActorType: vms.ActorCamera}
}

func (a *author) finish(ev vms.Event, items []vms.Data) vms.Event {
	ev.SetData(items...)
	ev.ID = ev.NaturalID()
	return ev
}

func (a *author) creator(id string) vms.Data {
	return vms.CreatorDetails(id, vms.CreatorInfo{ID: id, Vendor: "vmsbridge", Application: "vmsbridge", Version: a.version})
}

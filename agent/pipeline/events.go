package pipeline

import (
	"strconv"
	"strings"
	"time"

	"vmsbridge/motion"
	"vmsbridge/motion/rule"
	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

// imageDelay is added to the start of a motion for the address of its image until it ends: at its
// first picture a thing has hardly entered the view. An ended one has the image of its best time.
const imageDelay = 500 * time.Millisecond

// span is a time during which a camera's connection was in one state.
type span struct {
	connection  string // a connectionStatus of the interface
	start       time.Time
	before      string // the state before it, "" if this is the first
	beforeStart time.Time
}

// author makes the events of one camera. Its zero value is of no use; all fields but starts are set
// once. Motion is for one goroutine.
type author struct {
	account string
	camera  string
	baseURL string // of the service that will show the images
	version string
	epoch   string // tells the detector's tracks from those of the detectors before it
	regions map[string]motion.Region
	starts  starts // of the regions' spans

	lines               map[string]rule.Line
	areas               map[string]rule.Area
	crossed             moments
	intrusions, loiters starts // of the areas' spans
}

// Motion makes the event of a span from what the detector says of it. A begun span is ongoing; the
// end of the same span makes the same id.
func (a *author) Motion(c motion.Change) vms.Event {
	if c.Region != "" {
		c.Start = a.starts.of(c.Region, c.Start)
	}
	ev := a.event(vms.TypeMotion, c.Start)
	items := []vms.Data{a.creator(vms.CreatorMotion)}
	if c.Region != "" {
		ev.Type = vms.TypeMotionInRegion
		r := a.regions[c.Region]
		items = append(items, vms.MotionRegion(vms.CreatorMotion, r.ID, r.Name, r.Area))
	}
	ev.CreatorID = vms.CreatorMotion
	var overlay []vms.OverlayBox
	for _, o := range c.Objects {
		items, overlay = a.object(items, overlay, "motion", o.ID, o.Time, o.Box)
	}
	if c.Kind == motion.Ended && !c.BestTime.IsZero() {
		items = append(items, a.images(vms.OpAtOrBefore, c.BestTime)...)
	} else {
		items = append(items, a.images(vms.OpBefore, vms.At(c.Start).Add(imageDelay))...)
	}
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

// object appends what shows a thing of the detector's: its box and picture, and the box to draw.
func (a *author) object(items []vms.Data, overlay []vms.OverlayBox, label, id string, at time.Time,
	b motion.Box) ([]vms.Data, []vms.OverlayBox) {
	box := [4]float64{b.Left, b.Top, b.Right, b.Bottom}
	object := vms.ObjectID(vms.ActorCamera, a.camera, a.epoch+"-"+id)
	return append(items, vms.ObjectDetection(vms.CreatorMotion, object, at, box),
			vms.CroppedFrameImageURL(vms.CreatorMotion, object, a.cropped(at, b), at)),
		append(overlay, vms.OverlayBox{Label: label, At: at, Box: box})
}

// Tamper makes the event of a time in which the camera's view was not its own. No schema of the
// type says what was done to it, so the reason stands with the details of who found it.
func (a *author) Tamper(c tamper.Change) vms.Event {
	ev := a.event(vms.TypeTamper, c.Start)
	ev.CreatorID = vms.CreatorMotion
	info := a.info(vms.CreatorMotion)
	info.Reason = c.Reason.String()
	if c.Kind == tamper.Ended {
		end := c.Last
		if end.Before(c.Start) {
			end = c.Start
		}
		ev.EndTimestamp = vms.Ptr(end)
	}
	images := a.images(vms.OpBefore, vms.At(c.Start).Add(imageDelay))
	if c.Reason == tamper.Frozen { // it shows in any picture, but is known too late to keep the first
		images = a.images(vms.OpAtOrBefore, c.Last)
	}
	return a.finish(ev, append([]vms.Data{vms.CreatorDetails(vms.CreatorMotion, info)}, images...))
}

// images are the addresses of a picture of a time, as preview and in full.
func (a *author) images(op string, t time.Time) []vms.Data {
	at := vms.At(t)
	return []vms.Data{
		vms.FullFrameImageURL(vms.CreatorMotion, vms.ImageURL(a.baseURL, a.camera, vms.ImagePreview, op, at.Time),
			at.Time, vms.ImagePreview),
		vms.FullFrameImageURL(vms.CreatorMotion, vms.ImageURL(a.baseURL, a.camera, vms.ImageMain, op, at.Time), at.Time,
			vms.ImageMain),
	}
}

// cropped is the address of the picture of a box. The service cuts nothing out, so the box is said
// as a spatial fragment (W3C Media Fragments 1.0, §4.2.2), which is never sent: who does not know
// it gets the whole picture.
func (a *author) cropped(at time.Time, b motion.Box) string {
	percent := func(v float64) string { return strconv.FormatFloat(100*min(max(v, 0), 1), 'f', 2, 64) }
	return vms.ImageURL(a.baseURL, a.camera, vms.ImagePreview, vms.OpAtOrBefore, at) +
		"#xywh=percent:" +
		strings.Join([]string{percent(b.Left), percent(b.Top), percent(b.Right - b.Left),
			percent(b.Bottom - b.Top)}, ",")
}

// Status makes the event of a camera's state: ongoing while end is zero. The state before it, if
// there was one, goes into the event too.
func (a *author) Status(s span, end time.Time) vms.Event {
	ev := a.event(vms.TypeDeviceStatus, s.start)
	ev.CreatorID = vms.CreatorHealth
	items := []vms.Data{a.creator(vms.CreatorHealth), vms.DeviceCloudStatusUpdate(vms.CreatorHealth, s.connection)}
	if s.before != "" {
		items = append(items, vms.DeviceCloudPreviousStatus(vms.CreatorHealth, s.before, s.beforeStart,
			s.start.Sub(s.beforeStart)))
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

func (a *author) creator(id string) vms.Data { return vms.CreatorDetails(id, a.info(id)) }

func (a *author) info(id string) vms.CreatorInfo {
	return vms.CreatorInfo{ID: id, Vendor: "vmsbridge", Application: "vmsbridge", Version: a.version}
}

package vms

import (
	"fmt"
	"math"
	"time"
)

// Data schemas that the bridge attaches. Every schema that the catalogue knows is in schemas.go.
const (
	SchemaCreatorDetails = "vms.creatorDetails.v1"
	SchemaObject         = "vms.objectDetection.v1"
	SchemaFullFrame      = "vms.fullFrameImageUrl.v1"
	SchemaCroppedFrame   = "vms.croppedFrameImageUrl.v1"
	SchemaMotionRegion   = "vms.motionRegion.v1"
	SchemaLineCrossLine  = "vms.lineCrossLine.v1"
	SchemaEntryDirection = "vms.entryDirection.v1"
	SchemaIntrusionArea  = "vms.intrusionArea.v1"
	SchemaLoiterArea     = "vms.loiterArea.v1"
	SchemaOverlay        = "vms.displayOverlay.boundingBox.v1"
	SchemaDeviceStatus   = "vms.deviceCloudStatusUpdate.v1"
	SchemaPreviousStatus = "vms.deviceCloudPreviousStatus.v1"
	SchemaUserData       = "vms.userData.v1"
)

// CreatorOverlays is the creator of overlay items, whoever made the event.
const CreatorOverlays = "vms.eventOverlays"

// Connection statuses of a camera or bridge. StatusBridgeOffline is said by the service when a
// bridge is away; the cameras behind it may be well.
const (
	StatusOnline             = "online"
	StatusDeviceOffline      = "deviceOffline"
	StatusBridgeOffline      = "bridgeOffline"
	StatusInvalidCredentials = "invalidCredentials"
	StatusError              = "error"
	StatusOff                = "off"
	StatusUnknown            = "unknown"
)

// CreatorInfo says what made an event. ID and Vendor are required by the schema.
type CreatorInfo struct {
	ID            string `json:"id"`
	Vendor        string `json:"vendor"`
	Application   string `json:"application,omitempty"`
	HardwareModel string `json:"hardwareModel,omitempty"`
	Version       string `json:"version,omitempty"`
	// Reason is why the event was made, where its type has no schema that could say so. It is no
	// field of the public schema, which allows others: a service that does not know it leaves it
	// out.
	Reason string `json:"reason,omitempty"`
}

// head is what every item begins with.
type head struct {
	Type      string `json:"type"`
	CreatorID string `json:"creatorId"`
}

func headOf(schema, creator string) head {
	if creator == "" {
		creator = CreatorMotion
	}
	return head{schema, creator}
}

// CreatorDetails tells the origin of the event. As in all constructors here, creator "" means
// CreatorMotion.
func CreatorDetails(creator string, d CreatorInfo) Data {
	return item(struct {
		head
		CreatorInfo
	}{headOf(SchemaCreatorDetails, creator), d})
}

// ObjectDetection is the box [left, top, right, bottom] of one object in fractions of the picture;
// it is clamped to 0..1. objectID has the form "camera-100d4c41:7" (see ObjectID) and links the
// items of one object.
func ObjectDetection(creator, objectID string, at time.Time, box [4]float64) Data {
	return item(struct {
		head
		ObjectID    string     `json:"objectId"`
		Timestamp   Time       `json:"timestamp"`
		BoundingBox [4]float64 `json:"boundingBox"`
	}{headOf(SchemaObject, creator), objectID, At(at), clampBox(box)})
}

// ObjectID is the form that clients expect of object ids: what sees it, a colon, its number there.
func ObjectID(actorType, actorID, object string) string {
	return actorType + "-" + actorID + ":" + object
}

// FullFrameImageURL points at the image of the whole picture at a time. feed is "preview", "main"
// or "" (not said).
func FullFrameImageURL(creator, url string, at time.Time, feed string) Data {
	return item(struct {
		head
		HTTPSURL  string `json:"httpsUrl"`
		Timestamp Time   `json:"timestamp"`
		FeedType  string `json:"feedType,omitempty"`
	}{headOf(SchemaFullFrame, creator), url, At(at), feed})
}

// CroppedFrameImageURL points at the image of one object.
func CroppedFrameImageURL(creator, objectID, url string, at time.Time) Data {
	return item(struct {
		head
		ObjectID  string `json:"objectId"`
		HTTPSURL  string `json:"httpsUrl"`
		Timestamp Time   `json:"timestamp"`
	}{headOf(SchemaCroppedFrame, creator), objectID, url, At(at)})
}

// area is an item about an area of the picture, a polygon of at least three [x, y] in fractions.
type area struct {
	head
	ID   string       `json:"id"`
	Name string       `json:"name,omitempty"`
	Area [][2]float64 `json:"area,omitempty"`
}

func areaOf(schema, creator, id, name string, corners [][2]float64) area {
	return area{headOf(schema, creator), id, name, clampPoints(corners)}
}

// MotionRegion names the region in which something moved. corners are a polygon of at least three
// [x, y] in fractions.
func MotionRegion(creator, id, name string, corners [][2]float64) Data {
	return item(areaOf(SchemaMotionRegion, creator, id, name, corners))
}

// IntrusionArea names the area that something entered, as MotionRegion does.
func IntrusionArea(creator, id, name string, corners [][2]float64) Data {
	return item(areaOf(SchemaIntrusionArea, creator, id, name, corners))
}

// LoiterArea names the area in which something stayed for longer than dwell, which is told in whole
// seconds, rounded.
func LoiterArea(creator, id, name string, corners [][2]float64, dwell time.Duration) Data {
	return item(struct {
		area
		MinimumDwellTimeSec int `json:"minimumDwellTimeSec"`
	}{areaOf(SchemaLoiterArea, creator, id, name, corners), int(math.Round(dwell.Seconds()))})
}

// LineCrossLine names the line that something crossed, with the two points in fractions of the part
// of it where it did. way is where it went in the picture: up, down, left or right.
func LineCrossLine(creator, id, name string, part [2][2]float64, way string) Data {
	return item(struct {
		head
		ID        string       `json:"id"`
		Name      string       `json:"name,omitempty"`
		Line      [][2]float64 `json:"line"`
		Direction string       `json:"direction"`
	}{headOf(SchemaLineCrossLine, creator), id, name, clampPoints(part[:]), way})
}

// Values of EntryDirection.
const (
	EntryIn  = "in"
	EntryOut = "out"
)

// EntryDirection says which way something crossed a line or the border of an area: EntryIn or
// EntryOut.
func EntryDirection(creator, direction string) Data {
	return item(struct {
		head
		Direction string `json:"direction"`
	}{headOf(SchemaEntryDirection, creator), direction})
}

// OverlayBox is one box to draw. Zero Color and LineWidth mean red and 2 pixels.
type OverlayBox struct {
	Label     string
	At        time.Time
	Color     string
	LineWidth int
	Box       [4]float64
}

// BoundingBoxOverlay says which boxes and labels to draw over the image; its creator is always
// CreatorOverlays.
func BoundingBoxOverlay(boxes []OverlayBox) Data {
	type overlay struct {
		Label         string     `json:"label"`
		Timestamp     Time       `json:"timestamp"`
		LabelLocation string     `json:"labelLocation"`
		Color         string     `json:"color"`
		LineWidth     int        `json:"lineWidth"`
		BoundingBox   [4]float64 `json:"boundingBox"`
	}
	list := make([]overlay, len(boxes))
	for i, b := range boxes {
		if b.Color == "" {
			b.Color = "#ff0000"
		}
		if b.LineWidth <= 0 {
			b.LineWidth = 2
		}
		list[i] = overlay{b.Label, At(b.At), "topLeft", b.Color, b.LineWidth, clampBox(b.Box)}
	}
	return item(struct {
		head
		Overlays []overlay `json:"overlays"`
	}{head{SchemaOverlay, CreatorOverlays}, list})
}

// DeviceCloudStatusUpdate is the state that a device went into, one of the Status constants.
func DeviceCloudStatusUpdate(creator, connectionStatus string) Data {
	return item(struct {
		head
		NewStatus ConnectionStatus `json:"newStatus"`
	}{headOf(SchemaDeviceStatus, creator), ConnectionStatus{connectionStatus}})
}

// DeviceCloudPreviousStatus is the state that a device came out of, since when it was in it and for
// how long.
func DeviceCloudPreviousStatus(creator, connectionStatus string, since time.Time, d time.Duration) Data {
	return item(struct {
		head
		ConnectionStatus
		StartTimestamp Time  `json:"startTimestamp"`
		Duration       int64 `json:"duration"` // milliseconds
	}{headOf(SchemaPreviousStatus, creator), ConnectionStatus{connectionStatus}, At(since), d.Milliseconds()})
}

// item makes the data item of one of the structs above. Their strings, times and clamped numbers
// always marshal, so an error would be a bug of this file.
func item(v any) Data {
	d, err := MakeData(v)
	if err != nil {
		panic(fmt.Sprintf("vms: data item %T does not marshal: %v", v, err))
	}
	return d
}

func clampBox(b [4]float64) [4]float64 {
	for i := range b {
		b[i] = clamp(b[i])
	}
	return b
}

func clampPoints(list [][2]float64) [][2]float64 {
	points := make([][2]float64, len(list))
	for i, p := range list {
		points[i] = [2]float64{clamp(p[0]), clamp(p[1])}
	}
	return points
}

// clamp brings a fraction into 0..1; what is not a number becomes 0, because JSON has no way to
// write it. Four decimals are finer than a pixel of an 8K picture.
func clamp(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return math.Round(min(max(f, 0), 1)*1e4) / 1e4
}

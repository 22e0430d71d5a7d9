package server

import (
	"context"
	"net/http"
	"time"

	"vmsbridge/uplink/vms"
)

// Interval is a time in which images follow each other closely, with both ends.
type Interval struct{ Start, End time.Time }

// Gap is a time without pictures, and why. End is zero while it lasts.
type Gap struct {
	Start, End time.Time
	Reason     string
}

// RecordingSource is an ImageSource that can say when there are images.
type RecordingSource interface {
	// Recorded is the first intervals of a time, at most so many, and the gaps of all of it, both
	// in order of time.
	Recorded(ctx context.Context, account, camera, kind string, from, to time.Time, most int) ([]Interval, []Gap, error)
}

// mediaArgs are its arguments. include asks for addresses of video, of which there are none;
// coalesce for intervals that touch to be one, which they are.
var mediaArgs = []string{"deviceId", "type", "mediaType", "startTimestamp__gte", "endTimestamp__lte", "pageSize",
	"pageToken", "include", "coalesce"}

// listMedia is GET /media: when there are images of a camera, and why there are none in between.
func (s *Server) listMedia(c *call) error {
	a := c.args
	want := imageToken{Camera: a.need("deviceId"), Kind: a.need("type")}
	checkImage(a, want)
	a.pageSize(defaultPageSize)
	from, ok := a.instant("startTimestamp__gte")
	token := mediaToken{DeviceID: want.Camera, Kind: want.Kind}
	if t := a.one("pageToken"); t != "" {
		if err := s.signer.open("media", c.principal.AccountID, t, &token); err != nil ||
			token.DeviceID != want.Camera || token.Kind != want.Kind {
			a.bad("pageToken", errToken.Error())
		}
		from = token.From
	} else if !ok && !a.has("startTimestamp__gte") {
		a.miss("startTimestamp__gte")
	}
	to, ok := a.instant("endTimestamp__lte")
	if !ok {
		to = time.Now()
	}
	a.flag("coalesce")
	media := a.one("mediaType")
	if media != "" && media != "image" && media != "video" {
		a.bad("mediaType", "must be image or video")
	}
	if err := a.err(); err != nil {
		return err
	}
	if err := s.checkActor(c.r.Context(), c, cameraActor(want.Camera)); err != nil {
		return err
	}
	if !c.principal.Views(want.Kind) {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission, "This user may not see "+want.Kind+" images")
	}
	page := vms.MediaPage{Results: []vms.MediaInterval{}, Gaps: []vms.MediaGap{}}
	source, ok := s.opts.Images.(RecordingSource)
	if media == "video" { // this is no recorder of video
		return c.ok(page)
	}
	if !ok {
		return vms.NotFound("media", "This server cannot tell when there are images", want.Camera)
	}
	its := c.principal.Find(cameraActor(want.Camera))
	size := a.pageSize(defaultPageSize)
	found, gaps, err := source.Recorded(c.r.Context(), its.Account, its.ID, want.Kind, from, to, size+1)
	if err != nil {
		return err
	}
	for i, v := range found {
		if i == size {
			token.From = v.Start
			if page.NextPageToken, err = s.signer.sign("media", c.principal.AccountID, token); err != nil {
				return err
			}
			to = v.Start
			break
		}
		page.Results = append(page.Results, vms.MediaInterval{Type: want.Kind, DeviceID: want.Camera,
			MediaType: "image", Start: vms.At(v.Start), End: vms.At(v.End)})
	}
	for _, g := range gaps {
		if !g.Start.Before(to) {
			break // it stands on a later page
		}
		gap := vms.MediaGap{Start: vms.At(g.Start), Reason: g.Reason}
		if !g.End.IsZero() {
			gap.End = vms.Ptr(g.End)
		}
		page.Gaps = append(page.Gaps, gap)
	}
	return c.ok(page)
}

// mediaToken is the next page of intervals.
type mediaToken struct {
	DeviceID string    `json:"d"`
	Kind     string    `json:"k"`
	From     time.Time `json:"f"`
}

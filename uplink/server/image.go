package server

import (
	"errors"
	"net/http"
	"time"

	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// imageToken is a place next to an image.
type imageToken struct {
	Camera string    `json:"d"`
	Kind   string    `json:"k"`
	Op     string    `json:"o"`
	Time   time.Time `json:"t"`
	Wish   imageWish `json:"w,omitzero"`
}

// recordedImage is GET /media/recordedImage.jpeg: the newest image before a time, or by one of the
// other operators. A pageToken alone asks for the neighbour of an image that was answered before;
// all else is then ignored.
func (s *Server) recordedImage(c *call) error {
	want, exact, err := s.imageWanted(c)
	if err != nil {
		return err
	}
	img, err := s.image(c, want)
	if err != nil {
		return err
	}
	defer func() { _ = img.Body.Close() }() // nothing is written to it
	at := vms.At(img.Time)
	if exact && !at.Equal(want.Time) {
		return vms.NotFound("images", "There is no image of exactly that time", want.Camera)
	}
	next, err1 := s.imageToken(c, imageToken{want.Camera, want.Kind, vms.OpAtOrAfter, at.Add(time.Millisecond),
		want.Wish})
	prev, err2 := s.imageToken(c, imageToken{want.Camera, want.Kind, vms.OpBefore, at.Time, want.Wish})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	s.imageHeaders(c, at, next, prev)
	// What was before a time of a minute ago will not change any more.
	settled := exact || want.Op != vms.OpAtOrAfter && want.Op != vms.OpAfter && time.Since(want.Time) > time.Minute
	return s.sendImage(c, want, img, settled)
}

// image finds an image for the caller. Its body must be closed.
func (s *Server) image(c *call, want imageToken) (img Image, err error) {
	if err := s.checkActor(c.r.Context(), c, cameraActor(want.Camera)); err != nil {
		return img, err
	}
	if !c.principal.Views(want.Kind) {
		return img,
			vms.NewError(http.StatusForbidden, vms.ReasonPermission, "This user may not see "+want.Kind+" images")
	}
	if s.opts.Images == nil {
		return img, vms.NotFound("images", "This server keeps no images", want.Camera)
	}
	its := c.principal.Find(cameraActor(want.Camera))
	return s.opts.Images.Image(c.r.Context(), ImageQuery{its.Account, its.ID, want.Kind, want.Op, want.Time,
		want.known(route.List(c.r, "If-None-Match"))})
}

// imageHeaders tells when an image was taken, and how to get at its neighbours. A signed address
// opens no other image.
func (s *Server) imageHeaders(c *call, at vms.Time, next, prev string) {
	h := c.w.Header()
	for _, prefix := range []string{"X-Een-", "X-Vms-"} {
		h.Set(prefix+vms.HeaderTimestamp, at.String())
		if c.signed() {
			continue
		}
		if next != "" {
			h.Set(prefix+vms.HeaderNextToken, next)
		}
		h.Set(prefix+vms.HeaderPrevToken, prev)
	}
}

func (s *Server) imageToken(c *call, t imageToken) (string, error) {
	return s.signer.sign("image", c.principal.AccountID, t)
}

// imageWanted reads the arguments. exact says that only an image printed with the very time asked
// for will do.
func (s *Server) imageWanted(c *call) (want imageToken, exact bool, err error) {
	a := c.args
	if token := a.one("pageToken"); token != "" {
		a.unexpected = nil
		if err := s.signer.open("image", c.principal.AccountID, token, &want); err != nil {
			a.bad("pageToken", err.Error())
		}
		return want, false, a.err()
	}
	want.Camera, want.Kind = a.need("deviceId"), a.need("type")
	checkImage(a, want)
	want.Wish = readWish(a)
	given := 0
	for _, op := range vms.Ops {
		if !a.has(op) {
			continue
		}
		if given++; given > 1 {
			a.bad(op, "only one of the timestamp arguments may be given")
			continue
		}
		if t, ok := a.instant(op); ok {
			want.Op, want.Time, exact = wholeMillisecond(op, t)
		}
	}
	if given == 0 {
		a.miss("one of timestamp__lt, timestamp__lte, timestamp, timestamp__gte, timestamp__gt")
	}
	return want, exact, a.err()
}

// checkImage says what is wrong with the camera or the kind of an image that is wanted.
func checkImage(a *args, want imageToken) {
	if want.Camera != "" && !vms.ValidID(want.Camera) {
		a.bad("deviceId", "cannot be the id of a camera")
	}
	if want.Kind != "" && want.Kind != vms.ImagePreview && want.Kind != vms.ImageMain {
		a.bad("type", "must be preview or main")
	}
}

// wholeMillisecond lets a time in milliseconds stand for all of that millisecond, because images
// print theirs so. A finer time is taken as it is.
func wholeMillisecond(op string, t time.Time) (string, time.Time, bool) {
	if t.Truncate(time.Millisecond) != t {
		return op, t, false
	}
	switch op {
	case vms.OpAtOrBefore:
		return vms.OpBefore, t.Add(time.Millisecond), false
	case vms.OpAfter:
		return vms.OpAtOrAfter, t.Add(time.Millisecond), false
	case vms.OpAt:
		return vms.OpAtOrAfter, t, true
	}
	return op, t, false
}

// listOverlays is GET /media/recordedImage.jpeg:listFieldValues: the types of events whose boxes
// and regions can be drawn.
func (s *Server) listOverlays(c *call) error {
	a := c.args
	id := a.need("deviceId")
	if err := a.err(); err != nil {
		return err
	}
	if err := s.checkActor(c.r.Context(), c, cameraActor(id)); err != nil {
		return err
	}
	return c.ok(map[string]any{"overlayId": overlayTypes})
}

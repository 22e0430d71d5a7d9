package server

import (
	"slices"

	"vmsbridge/uplink/vms"
)

// feedTypes are the kinds of feeds that a camera has here: its stills, in two sizes. There is no
// video.
var feedTypes = []string{vms.ImageMain, vms.ImagePreview}

// videoAddresses are those of the public interface, of which there are none here.
var videoAddresses = []string{"flvUrl", "rtspUrl", "rtspsUrl", "localRtspUrl", "hlsUrl", "multipartUrl", "webRtcUrl",
	"audioPushHttpsUrl"}

// listFeeds is GET /feeds: of the cameras named, or of all that the caller sees, the newest still
// of each kind. Addresses of video that are asked for are null.
func (s *Server) listFeeds(c *call) error {
	a := c.args
	at, err := placeOf(s, c, a, "feeds")
	if err != nil {
		return err
	}
	ids := append(a.list("deviceId"), a.list("deviceId__in")...)
	named := len(ids) > 0
	if !named {
		ids = s.cameraIDs(c.principal)
	}
	types := feedTypes
	switch v := a.one("type"); {
	case slices.Contains(feedTypes, v):
		types = []string{v}
	case v == "talkdown":
		types = nil
	case v != "":
		a.bad("type", "must be main, preview or talkdown")
	}
	if err := a.err(); err != nil {
		return err
	}
	var all []vms.Feed
	for _, id := range ids {
		if _, ok := s.camera(c.principal, id); !ok && named {
			return noActor(cameraActor(id))
		}
		for _, t := range types {
			all = append(all, vms.Feed{"id": id + "-" + t, "type": t, "deviceId": id, "mediaType": "image"})
		}
	}
	page, err := pageAt(s, c, "feeds", at, all)
	if err != nil {
		return err
	}
	for _, f := range page.Results {
		for _, name := range at.Include {
			if slices.Contains(videoAddresses, name) {
				f[name] = nil
			}
		}
	}
	return c.ok(page)
}

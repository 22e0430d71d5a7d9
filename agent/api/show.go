package api

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// shownFor is how long an address in an event of a webhook opens its image: people read a message
// of the night in the morning.
const shownFor = 24 * time.Hour

// Show is an event as a webhook hands it out: with "link", the addresses of its images are signed
// ones at the bridge's address; with "inline", that of the preview is the picture itself (RFC
// 2397). What cannot be had stays an address as it was. Safe for concurrent use.
func (a *API) Show(image string, ev vms.Event) vms.Event {
	ev.Data = slices.Clone(ev.Data)
	switch {
	case image == "link" && a.opts.BaseURL != "":
		all := identity.Principal{Kind: identity.KindUser, AccountID: a.opts.Config().Bridge.Account}
		if signed, err := a.v3.SignEvent(all, ev, a.opts.BaseURL, time.Now().Add(shownFor)); err == nil {
			return signed
		}
	case image == "inline":
		for i, d := range ev.Data {
			ev.Data[i] = a.inline(ev, d)
		}
	}
	return ev
}

// inline is a data item whose address of a preview is the picture itself.
func (a *API) inline(ev vms.Event, d vms.Data) vms.Data {
	var fields map[string]json.RawMessage
	var frame struct {
		Feed string   `json:"feedType"`
		At   vms.Time `json:"timestamp"`
	}
	if d.Type != vms.SchemaFullFrame || d.Into(&frame) != nil || d.Into(&fields) != nil ||
		frame.Feed != vms.ImagePreview || frame.At.IsZero() || ev.ActorType != vms.ActorCamera {
		return d
	}
	jpeg, err := a.opts.Archive.Picture(ev.ActorID, frame.At.Time)
	if err != nil {
		return d
	}
	fields["httpsUrl"], err = json.Marshal("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg))
	if err != nil {
		return d
	}
	if shown, err := vms.MakeData(fields); err == nil {
		return shown
	}
	return d
}

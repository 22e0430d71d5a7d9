package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// cameras are the bridge's as the interface asks for them.
type cameras struct{ o *Options }

// CameraIDs are their ids in order, as the interface wants. All are the bridge's own.
func (c cameras) CameraIDs(string, string) []string {
	var ids []string
	for _, known := range c.o.Config().Cameras {
		ids = append(ids, known.ID)
	}
	slices.Sort(ids)
	return ids
}

// CameraOf is one of them.
func (c cameras) CameraOf(_, id string) (vms.Camera, bool) {
	list := c.o.Cameras()
	if i := slices.IndexFunc(list, func(known vms.Camera) bool { return known.ID == id }); i >= 0 {
		cam := list[i]
		c.o.said.of(id).Put(&cam)
		return cam, true
	}
	return vms.Camera{}, false
}

// HasActor knows the cameras of the configuration and the bridge itself. Sensors, users and
// whatever else other programs report for are not the bridge's to know, and are let in.
func (c cameras) HasActor(_ context.Context, _ string, actor vms.Actor) (bool, error) {
	switch actor.Type {
	case vms.ActorBridge:
		return actor.ID == c.o.Config().Bridge.ID, nil
	case vms.ActorCamera:
		return slices.ContainsFunc(c.o.Config().Cameras, func(known configs.Camera) bool {
			return known.ID == actor.ID
		}), nil
	}
	return true, nil
}

// Describe is for server.Describer.
func (c cameras) Describe(ctx context.Context, by identity.Principal, _, id string, change vms.CameraChange) error {
	if _, ok := c.CameraOf("", id); !ok {
		return vms.NotFound("cameras", "", id)
	}
	if err := c.o.said.change(ctx, id, change); err != nil {
		return err
	}
	c.o.Log.Info("what is said of a camera was changed", "camera", id, "by", by.Holder)
	return nil
}

// SettingsOf is for server.Setter: how often stills are kept.
func (c cameras) SettingsOf(_, _ string) (out vms.SettingsData) {
	stills := c.o.Config().Stills
	out.PreviewVideo = &vms.VideoSettings{TransmitMode: "always", IntervalMs: stills.PreviewInterval.Milliseconds()}
	out.MainVideo = &vms.VideoSettings{TransmitMode: "event", IntervalMs: stills.MainInterval.Milliseconds()}
	return out
}

// BridgeIDs is the bridge itself.
func (c cameras) BridgeIDs(string) []string { return []string{c.o.Config().Bridge.ID} }

// BridgeRecord is the bridge itself.
func (c cameras) BridgeRecord(account, id string) (b vms.Bridge, ids []string, ok bool) {
	own := c.o.Config().Bridge
	if id != own.ID {
		return b, nil, false
	}
	b = vms.Bridge{ID: own.ID, AccountID: own.Account, Name: own.Name, CreateTimestamp: vms.At(c.o.Started),
		Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOnline}, NetworkInfo: &vms.NetworkInfo{}}
	return b, c.CameraIDs(account, ""), true
}

// recordedGap parts two intervals of stills: three times what may lie between two, and a quarter of
// a minute at least.
func (i images) recordedGap() time.Duration {
	return max(15*time.Second, 3*i.config().Stills.PreviewInterval)
}

// Recorded lists when there are stills, and why there are none.
func (i images) Recorded(ctx context.Context, _, camera, kind string, from, to time.Time,
	most int) (found []server.Interval, gaps []server.Gap, err error) {
	k, err := stills.ParseKind(kind)
	if err != nil {
		return nil, nil, err
	}
	for next, more := from, true; more; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err // nobody waits for it any more
		}
		var list []stills.Frame
		if list, more, err = i.ring.Range(camera, k, next, to, stills.RangeMost); err != nil {
			return nil, nil, err
		}
		for _, f := range list {
			if n := len(found); n > 0 && f.Time.Sub(found[n-1].End) <= i.recordedGap() {
				found[n-1].End = f.Time
			} else if n == most {
				more = false // what is found already is whole
				break
			} else {
				found = append(found, server.Interval{Start: f.Time, End: f.Time})
			}
			next = f.Time.Add(1)
		}
		more = more && len(list) > 0
	}
	for _, g := range i.ring.Gaps(camera, from, to) {
		gaps = append(gaps, server.Gap{Start: g.From, End: g.To, Reason: g.Reason})
	}
	if g, ok := i.lasting(camera, from); ok && g.Start.Before(to) {
		gaps = append(gaps, g)
	}
	return found, gaps, nil
}

// lasting is the gap of a camera that is away, which the ring learns of when it is over. It begins
// with the newest still, or where somebody looks from if none was ever stored.
func (i images) lasting(camera string, from time.Time) (server.Gap, bool) {
	for _, c := range i.states() {
		if c.ID != camera || c.Reason == "" || c.Online {
			continue
		}
		if last, ok := i.ring.Newest(camera, stills.Preview); ok {
			from = last
		}
		return server.Gap{Start: from, Reason: c.Reason}, true
	}
	return server.Gap{}, false
}

// heldAtMost is how old a picture may be that waits undecoded, with time to spare.
const heldAtMost = time.Minute

// images are the ring of stills as the interface asks for it.
type images struct {
	ring   *stills.Ring
	config func() *configs.Config
	states func() []health.Camera
	before func(ctx context.Context, camera string, t time.Time) // as Options.StillBefore
}

var ops = map[string]stills.Op{vms.OpBefore: stills.Before, vms.OpAtOrBefore: stills.AtOrBefore, vms.OpAt: stills.At,
	vms.OpAtOrAfter: stills.AtOrAfter, vms.OpAfter: stills.After}

func (i images) Image(ctx context.Context, q server.ImageQuery) (server.Image, error) {
	kind, err := stills.ParseKind(q.Kind)
	if err != nil {
		return server.Image{}, err
	}
	switch {
	case time.Since(q.Time) > heldAtMost:
	case q.Op == vms.OpBefore:
		i.before(ctx, q.Camera, q.Time)
	case q.Op == vms.OpAtOrBefore:
		i.before(ctx, q.Camera, q.Time.Add(time.Millisecond)) // the pictures' times are in whole ones
	}
	s, err := i.ring.Find(q.Camera, kind, ops[q.Op], q.Time)
	if none := (*stills.NoneError)(nil); errors.As(err, &none) {
		return server.Image{}, vms.NotFound("images", none.Error(), q.Camera)
	} else if err != nil {
		return server.Image{}, err
	}
	return server.Image{Time: s.Time, Length: int64(len(s.JPEG)), Body: io.NopCloser(bytes.NewReader(s.JPEG))}, nil
}

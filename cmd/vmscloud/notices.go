package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// maxPicture bounds a picture in a letter, in bytes.
const maxPicture = 1 << 20

// notices tells people of status events.
type notices struct {
	book   *ledger
	people *notify.StatusNotifier
	log    *slog.Logger
}

// Run tells of what the feed brings, and of bridges that are away of which nobody was told yet,
// until ctx is done. What is missed because the feed was too fast is told by the next change.
func (n notices) Run(ctx context.Context) error {
	follower := n.book.feed.Follow()
	for _, ev := range n.book.presence.Outages() {
		if n.toldOf(ev) {
			n.people.Known(n.ofBridge(ev))
		} else {
			n.tell(ctx, ev)
		}
	}
	for {
		told, err := follower.Next(ctx)
		if err != nil && !errors.Is(err, feed.ErrBehind) {
			return nil
		}
		for _, t := range told {
			n.tell(ctx, t.Event)
		}
	}
}

func (n notices) tell(ctx context.Context, ev vms.Event) {
	status := newStatus(ev)
	var c notify.StatusChange
	switch {
	case status == "" || presence.Ours(ev) && ev.ActorType == vms.ActorCamera: // those are told with their bridge
		return
	case presence.Ours(ev):
		c = n.ofBridge(ev)
	case ev.ActorType == vms.ActorCamera:
		c = notify.StatusChange{Account: ev.AccountID, Camera: ev.ActorID,
			Name: n.book.registry.Name(ev.AccountID, ev.ActorID), Status: status, At: ev.StartTimestamp.Time}
	default:
		return
	}
	if err := n.people.Tell(ctx, c); err != nil {
		n.log.Error("nobody was told of a device's status", "device", ev.ActorID, "error", err)
		return
	}
	if c.Bridge != "" && ev.Ongoing() && status == vms.StatusBridgeOffline {
		if err := n.book.SetMeta(toldKey(ev), []byte(ev.ID)); err != nil {
			n.log.Warn("it cannot be noted that people were told of a bridge's status; they may be told again",
				"bridge", ev.ActorID, "error", err)
		}
	}
}

// ofBridge is the change that a bridge's status event tells.
func (n notices) ofBridge(ev vms.Event) notify.StatusChange {
	c := notify.StatusChange{Account: ev.AccountID, Bridge: ev.ActorID,
		Name: n.book.registry.Name(ev.AccountID, ev.ActorID), Status: newStatus(ev), At: ev.StartTimestamp.Time,
		Cameras: map[string]string{}}
	on, _, _ := n.book.registry.Attached(ev.AccountID, ev.ActorID)
	for _, id := range on {
		c.Cameras[id] = n.book.registry.Name(ev.AccountID, id)
	}
	return c
}

// toldKey is where it is noted of which status of a bridge people were told last.
func toldKey(ev vms.Event) string { return "told/" + ev.AccountID + "/" + ev.ActorID }

func (n notices) toldOf(ev vms.Event) bool {
	id, err := n.book.Meta(toldKey(ev))
	return err == nil && string(id) == ev.ID
}

// lastPicture fetches the newest preview of a camera before a time, nil if there is none.
func lastPicture(images server.ImageSource) func(context.Context, string, string, time.Time) []byte {
	return func(ctx context.Context, account, camera string, before time.Time) []byte {
		img, err := images.Image(ctx, server.ImageQuery{Account: account, Camera: camera, Kind: vms.ImagePreview,
			Op: vms.OpBefore, Time: before})
		if err != nil {
			return nil
		}
		defer func() { _ = img.Body.Close() }() // nothing is written to it
		raw, err := io.ReadAll(io.LimitReader(img.Body, maxPicture+1))
		if err != nil || len(raw) > maxPicture {
			return nil
		}
		return raw
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity/notice"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// maxPicture bounds a picture in a letter, in bytes.
const maxPicture = 1 << 20

// notices tells people of cameras' status events until ctx is done. What is missed because the feed was too fast is told by the
// next change.
func notices(ctx context.Context, f *feed.Feed, reg *registry.Registry, n *notice.Notice, log *slog.Logger) error {
	follower := f.Follow()
	for {
		told, err := follower.Next(ctx)
		if err != nil && !errors.Is(err, feed.ErrBehind) {
			return nil
		}
		for _, t := range told {
			status := newStatus(t.Event)
			if status == "" || t.Event.ActorType != vms.ActorCamera {
				continue
			}
			c := notice.Change{Account: t.Event.AccountID, Camera: t.Event.ActorID, Name: reg.Name(t.Event.AccountID, t.Event.ActorID), Status: status, At: t.Event.StartTimestamp.Time}
			if err := n.Tell(ctx, c); err != nil {
				log.Error("nobody was told of a camera's status", "camera", t.Event.ActorID, "error", err)
			}
		}
	}
}

// lastPicture fetches the newest preview of a camera before a time, nil if there is none.
func lastPicture(images server.ImageSource) func(context.Context, string, string, time.Time) []byte {
	return func(ctx context.Context, account, camera string, before time.Time) []byte {
		img, err := images.Image(ctx, server.ImageQuery{Account: account, Camera: camera, Kind: vms.ImagePreview, Op: vms.OpBefore, Time: before})
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

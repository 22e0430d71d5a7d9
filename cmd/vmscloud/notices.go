package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"vmsbridge/uplink/identity/notice"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// maxPicture bounds a picture in a letter, in bytes.
const maxPicture = 1 << 20

// notices tells people of cameras' status events until ctx is done. Who is too slow for the feed follows it anew: what is
// missed then is told by the next change.
func notices(ctx context.Context, f *feed.Feed, reg *registry, n *notice.Notice, log *slog.Logger) error {
	for ctx.Err() == nil {
		events, stop := f.Follow()
		for open := true; open; {
			select {
			case <-ctx.Done():
				open = false
			case ev, ok := <-events:
				status := newStatus(ev)
				if open = ok; !ok || status == "" || ev.ActorType != vms.ActorCamera {
					continue
				}
				c := notice.Change{Account: ev.AccountID, Camera: ev.ActorID, Name: reg.name(ev.ActorID), Status: status, At: ev.StartTimestamp.Time}
				if err := n.Tell(ctx, c); err != nil {
					log.Error("nobody was told of a camera's status", "camera", ev.ActorID, "error", err)
				}
			}
		}
		stop()
	}
	return nil
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

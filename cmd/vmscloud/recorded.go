package main

import (
	"context"
	"time"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// Limits of asking a bridge when it has images.
const (
	maxRecordedTime = 15 * time.Second
	recordedAtOnce  = 500 // intervals, the most that a bridge answers
)

var _ server.RecordingSource = (*bridgeImages)(nil)

// Recorded asks the camera's bridge when it has images, and why it has none in between.
func (b *bridgeImages) Recorded(ctx context.Context, account, camera, kind string, from, to time.Time,
	most int) (found []server.Interval, gaps []server.Gap,
	err error) {
	br, tunnelled, err := b.bridgeOf(account, camera)
	if err != nil {
		return nil, nil, err
	}
	defer b.leave(br.Key())
	ctx, cancel := context.WithTimeout(ctx, maxRecordedTime)
	defer cancel()
	for more := true; more && len(found) < most; {
		// The tunnel takes no page tokens, so the next page is that of what comes behind the last
		// interval.
		var page vms.MediaPage
		err := b.ask(ctx, tunnelled, br, camera, func(c *client.Client) (err error) {
			page, err = c.Media(ctx, camera, kind, from, to, min(most-len(found), recordedAtOnce))
			return err
		})
		if err != nil {
			return nil, nil, b.answer(br, camera, err)
		}
		for _, v := range page.Results {
			found = append(found, server.Interval{Start: v.Start.Time, End: v.End.Time})
		}
		for _, g := range page.Gaps {
			gap := server.Gap{Start: g.Start.Time, Reason: printable(g.Reason)}
			if g.End != nil {
				gap.End = g.End.Time
			}
			if n := len(gaps); n == 0 || gap.Start.After(gaps[n-1].Start) {
				gaps = append(gaps, gap)
			}
		}
		if more = page.NextPageToken != "" && len(page.Results) > 0; more {
			from = page.Results[len(page.Results)-1].End.Add(time.Millisecond)
		}
	}
	return found, gaps, nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// Limits of asking a bridge when it has images.
const (
	maxRecordedTime  = 15 * time.Second
	maxRecordedBytes = 4 << 20
	recordedAtOnce   = 500 // intervals, the most that a bridge answers
)

var _ server.RecordingSource = (*bridgeImages)(nil)

// recorded is a bridge's answer to GET /media.
type recorded struct {
	Results []struct {
		Start vms.Time `json:"startTimestamp"`
		End   vms.Time `json:"endTimestamp"`
	} `json:"results"`
	Gaps []struct {
		Start  vms.Time  `json:"startTimestamp"`
		End    *vms.Time `json:"endTimestamp"`
		Reason string    `json:"reason"`
	} `json:"gaps"`
	More string `json:"nextPageToken"`
}

// Recorded asks the camera's bridge when it has images, and why it has none in between.
func (b *bridgeImages) Recorded(ctx context.Context, account, camera, kind string, from, to time.Time,
	most int) (found []server.Interval, gaps []server.Gap,
	err error) {
	br, client, err := b.bridgeOf(account, camera)
	if err != nil {
		return nil, nil, err
	}
	defer b.leave(br.Key())
	ctx, cancel := context.WithTimeout(ctx, maxRecordedTime)
	defer cancel()
	for more := true; more && len(found) < most; {
		// The tunnel takes no page tokens, so the next page is that of what comes behind the last
		// interval.
		q := url.Values{"deviceId": {camera}, "type": {kind}, "startTimestamp__gte": {vms.At(from).String()},
			"endTimestamp__lte": {vms.At(to).String()},
			"pageSize":          {strconv.Itoa(min(most-len(found), recordedAtOnce))}}
		page, err := b.recorded(ctx, client, br, camera, vms.PathMedia+"?"+q.Encode())
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
		if more = page.More != "" && len(page.Results) > 0; more {
			from = page.Results[len(page.Results)-1].End.Add(time.Millisecond)
		}
	}
	return found, gaps, nil
}

func (b *bridgeImages) recorded(ctx context.Context, client *http.Client, br registry.Bridge, camera,
	path string) (page recorded, err error) {
	res, err := b.ask(ctx, client, br, camera, path)
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return page, refusal(res, camera)
	default:
		return page, fmt.Errorf("it answers %d", res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxRecordedBytes+1))
	if err != nil {
		return page, err
	}
	if len(raw) > maxRecordedBytes || json.Unmarshal(raw, &page) != nil {
		return page, errors.New("what it sends does not say when there are images")
	}
	return page, nil
}

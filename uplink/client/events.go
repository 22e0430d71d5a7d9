package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// Report hands one event to the service. nil means that the service says it has it; see acceptance.
// The id stays at home, since the service makes it, unless it is one that only a service of this
// project understands: see name.
func (c *Client) Report(ctx context.Context, ev vms.Event) error {
	ev.ID = c.name(ev)
	body, err := json.Marshal(ev)
	if err != nil {
		return &vms.RefusedError{Code: http.StatusBadRequest, Reason: vms.ReasonJSON,
			Message: "the event cannot be written as JSON: " + err.Error()}
	}
	a, err := c.call(ctx, http.MethodPost, vms.PathEvents, body, maxReplyBytes)
	if err != nil {
		return err
	}
	return acceptance(a, ev)
}

// name is the id that a report says, "" for none. Where several events of one actor and type began
// in one millisecond, the ids tell them apart: a service that takes registrations in the manner of
// this project keeps what the bridge calls them.
func (c *Client) name(ev vms.Event) string {
	if c.batch.most.Load() > 0 && ev.FitsID(ev.ID) {
		return ev.ID
	}
	return ""
}

// Events asks for a page of events. With a token of a former page only q.Include and q.PageSize
// count. The interface wants bounds: without q.StartGTE, and without both upper bounds, all of time
// is asked for.
func (c *Client) Events(ctx context.Context, q vms.Query, token string) (vms.EventPage, error) {
	var page vms.EventPage
	a, err := c.call(ctx, http.MethodGet, vms.PathEvents+"?"+listValues(q, token).Encode(), nil, maxAnswerBytes)
	if err != nil {
		return page, err
	}
	return page, decode(a, &page)
}

// AllEvents asks for page after page. It ends after the first error, which it yields.
func (c *Client) AllEvents(ctx context.Context, q vms.Query) iter.Seq2[vms.Event, error] {
	return func(yield func(vms.Event, error) bool) {
		token := ""
		for {
			page, err := c.Events(ctx, q, token)
			if err != nil {
				yield(vms.Event{}, err)
				return
			}
			for _, ev := range page.Results {
				if !yield(ev, nil) {
					return
				}
			}
			if token = page.NextPageToken; token == "" {
				return
			}
		}
	}
}

func listValues(q vms.Query, token string) url.Values {
	v := url.Values{}
	if len(q.Include) > 0 {
		v.Set("include", includeValue(q.Include))
	}
	if q.PageSize > 0 {
		v.Set("pageSize", strconv.Itoa(q.PageSize))
	}
	if token != "" {
		v.Set("pageToken", token)
		return v
	}
	actors := make([]string, len(q.Actors))
	for i, a := range q.Actors {
		actors[i] = a.Type + ":" + a.ID
	}
	switch len(actors) {
	case 0:
	case 1:
		v.Set("actor", actors[0])
	default:
		v.Set("actor__in", strings.Join(actors, ","))
	}
	if len(q.Types) > 0 {
		v.Set("type__in", strings.Join(q.Types, ","))
	}
	if q.StartGTE == nil {
		q.StartGTE = vms.Ptr(time.Unix(0, 0))
	}
	if q.StartLTE == nil && q.EndLTE == nil {
		q.StartLTE = vms.Ptr(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	for name, t := range map[string]*vms.Time{"startTimestamp__gte": q.StartGTE, "startTimestamp__lte": q.StartLTE,
		"endTimestamp__gte": q.EndGTE, "endTimestamp__lte": q.EndLTE} {
		if t != nil {
			v.Set(name, t.String())
		}
	}
	if q.Ascending {
		v.Set("sort", "+startTimestamp")
	}
	return v
}

func includeValue(schemas []string) string {
	out := make([]string, len(schemas))
	for i, s := range schemas {
		out[i] = "data." + strings.TrimPrefix(s, "data.")
	}
	return strings.Join(out, ",")
}

// Event asks for one event with the data schemas of include.
func (c *Client) Event(ctx context.Context, id string, include ...string) (vms.Event, error) {
	path := vms.PathEvents + "/" + url.PathEscape(id)
	if len(include) > 0 {
		path += "?" + url.Values{"include": {includeValue(include)}}.Encode()
	}
	return get[vms.Event](ctx, c, nil, path)
}

package outbound

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vmsbridge/agent/control"
	"vmsbridge/uplink/vms"
)

// AskQueue is the queue of a running bridge, of which c is control.Client. Its errors wrap
// control.ErrNotRunning where none runs, and fs.ErrPermission where the caller may not ask.
func AskQueue(c *http.Client) Queue { return asked{c} }

type asked struct{ client *http.Client }

func (q asked) List(ctx context.Context, limit int) (l Listing, err error) {
	return l, q.get(ctx, "?limit="+strconv.Itoa(limit), "", &l)
}

func (q asked) Show(ctx context.Context, id string) (ev vms.Event, err error) {
	return ev, q.get(ctx, "/event?id="+url.QueryEscape(id), id, &ev)
}

func (q asked) Retry(ctx context.Context, w Which) ([]string, error) {
	return q.change(ctx, "/retry", w)
}

func (q asked) Drop(ctx context.Context, w Which) ([]string, error) { return q.change(ctx, "/drop", w) }

func (q asked) Resend(ctx context.Context, w When) (int, error) {
	o, err := q.post(ctx, "/resend", w)
	if err == nil && o.Problem != "" {
		err = errors.New(o.Problem)
	}
	return o.Events, err
}

func (q asked) post(ctx context.Context, path string, w any) (o outcome, err error) {
	body, err := json.Marshal(w)
	if err == nil {
		err = q.do(ctx, http.MethodPost, path, body, "", &o)
	}
	return o, err
}

func (q asked) get(ctx context.Context, path, id string, into any) error {
	return q.do(ctx, http.MethodGet, path, nil, id, into)
}

func (q asked) change(ctx context.Context, path string, w Which) ([]string, error) {
	o, err := q.post(ctx, path, w)
	switch {
	case err != nil:
		return nil, err
	case o.Unknown:
		return o.Done, fmt.Errorf("%s%w", strings.TrimSuffix(o.Problem, ErrUnknown.Error()), ErrUnknown)
	case o.Problem != "":
		return o.Done, errors.New(o.Problem)
	}
	return o.Done, nil
}

// mostAnswered bounds an answer's size.
const mostAnswered = 256 << 20

func (q asked) do(ctx context.Context, method, path string, body []byte, id string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, control.URL+QueuePath+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := q.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the bridge: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(res.Body, mostAnswered))
	switch {
	case err != nil:
		return fmt.Errorf("ask the bridge: %w", err)
	case res.StatusCode == http.StatusNotFound && id != "":
		return fmt.Errorf("%s: %w", id, ErrUnknown)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("ask the bridge: it answers %s: %s", res.Status, strings.TrimSpace(string(content)))
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read the bridge's answer: %w", err)
	}
	return nil
}

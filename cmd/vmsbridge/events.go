package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

type eventsCommand struct {
	Camera []string `help:"Only this camera; may be repeated. Default: all." placeholder:"ID"`
	Since  string   `default:"1h" help:"From this time on: 1h for an hour ago, 2d, yesterday, 15:04 for the last such time, 2025-03-11, or 2025-03-11T20:23:12.766+00:00." placeholder:"TIME"`
	Until  string   `help:"Up to this time; 15:04 is the first such time after --since." placeholder:"TIME"`
	Type   []string `help:"Only this type; may be repeated: motion, region, line, inside, loiter, tamper, status, or the full name." placeholder:"TYPE"`
	JSON   bool     `name:"json" help:"One JSON object a line, with its data, instead of a table."`
	Follow bool     `short:"f" help:"Go on and print each event as it begins and as it ends, until interrupted."`
	ask
}

// include is what --json shows of an event's data, and what the table reads.
var include = []string{vms.SchemaCreatorDetails, vms.SchemaObject, vms.SchemaFullFrame, vms.SchemaMotionRegion,
	vms.SchemaLineCrossLine, vms.SchemaIntrusionArea, vms.SchemaLoiterArea, vms.SchemaDeviceStatus,
	vms.SchemaPreviousStatus}

// shortTypes are the names of types for people.
var shortTypes = configs.EventWords

// Run lists, oldest first, and with --follow goes on until it is interrupted.
func (c *eventsCommand) Run(ctx context.Context, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	q, err := c.query(time.Now())
	if err != nil {
		return cli.Exit(exitUsage, err)
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	defer cl.Close()
	if len(q.Actors) == 0 {
		if q.Actors, err = everyCamera(ctx, cl); err != nil {
			return hinted("list the cameras", err)
		}
	}
	p := printer{out: s.out, json: c.JSON}
	if c.Follow {
		return c.follow(ctx, cl, q, &p, s.err)
	}
	if len(q.Actors) == 0 {
		return nil
	}
	for ev, err := range cl.AllEvents(ctx, q) {
		if refused, ok := errors.AsType[*vms.RefusedError](err); ok && refused.Code == 404 {
			if err := knownCameras(ctx, cl, c.Camera...); err != nil {
				return err
			}
		}
		if err != nil {
			return hinted("list events", err)
		}
		if err := p.print(ev); err != nil {
			return err
		}
	}
	return nil
}

func (c *eventsCommand) query(now time.Time) (vms.Query, error) {
	q := vms.Query{Ascending: true, PageSize: 200, Include: include}
	for _, id := range c.Camera {
		q.Actors = append(q.Actors, vms.Actor{Type: vms.ActorCamera, ID: id})
	}
	since, err := parseTime(c.Since, now)
	if err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	q.StartGTE = vms.Ptr(since)
	if c.Until != "" {
		until, err := parseUntil(c.Until, since, now)
		if err != nil {
			return q, err
		}
		if c.Follow {
			return q, fmt.Errorf("--until and --follow exclude each other")
		}
		q.StartLTE = vms.Ptr(until)
	}
	for _, name := range c.Type {
		if full, ok := shortTypes[name]; ok {
			name = full
		} else if _, ok := vms.TypeByID(name); !ok {
			return q,
				fmt.Errorf("--type: there is no event type %q; write motion, region, line, inside, loiter, tamper, "+
					"status, or a full name such as %s", name, vms.TypeMotion)
		}
		q.Types = append(q.Types, name)
	}
	return q, nil
}

// knownCameras returns an error that names the cameras there are, if one of these is none of them.
func knownCameras(ctx context.Context, cl *client.Client, ids ...string) error {
	all, err := everyCamera(ctx, cl)
	if err != nil {
		return nil // what was refused before says more
	}
	var known []string
	for _, a := range all {
		known = append(known, a.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return cli.Unknown("camera", id, "", known)
		}
	}
	return nil
}

// everyCamera lists the cameras that this token may see: the interface lists events of named actors
// only.
func everyCamera(ctx context.Context, cl *client.Client) ([]vms.Actor, error) {
	var all []vms.Actor
	token := ""
	for {
		page, err := cl.Cameras(ctx, token)
		if err != nil {
			return nil, err
		}
		for _, cam := range page.Results {
			all = append(all, vms.Actor{Type: vms.ActorCamera, ID: cam.ID})
		}
		if token = page.NextPageToken; token == "" {
			return all, nil
		}
	}
}

// printer writes events as a table or as JSON lines.
type printer struct {
	out    io.Writer
	json   bool
	headed bool
}

func (p *printer) print(ev vms.Event) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(ev)
	}
	if !p.headed {
		p.headed = true
		if _, err := fmt.Fprintf(p.out, "%-29s  %10s  %-16s  %s\n", "START", "LENGTH", "CAMERA", "EVENT"); err != nil {
			return err
		}
	}
	length := "ongoing"
	if ev.EndTimestamp != nil {
		length = fmt.Sprintf("%.1f s", ev.EndTimestamp.Sub(ev.StartTimestamp.Time).Seconds())
	}
	_, err := fmt.Fprintf(p.out, "%-29s  %10s  %-16s  %s\n", ev.StartTimestamp, length, ev.ActorID, subject(ev))
	return err
}

// subject says in a few words what an event is about.
func subject(ev vms.Event) string {
	name := strings.TrimSuffix(strings.TrimPrefix(ev.Type, "vms."), ".v1")
	for short, full := range shortTypes {
		if full == ev.Type {
			name = short
		}
	}
	for _, d := range ev.Data {
		switch d.Type {
		case vms.SchemaCreatorDetails: // why the view was not its own
			var v vms.CreatorInfo
			if d.Into(&v) == nil && v.Reason != "" {
				return name + " " + v.Reason
			}
		case vms.SchemaDeviceStatus:
			var v struct {
				NewStatus vms.ConnectionStatus `json:"newStatus"`
			}
			if d.Into(&v) == nil && v.NewStatus.ConnectionStatus != "" {
				return name + " " + v.NewStatus.ConnectionStatus
			}
		case vms.SchemaMotionRegion, vms.SchemaLineCrossLine, vms.SchemaIntrusionArea, vms.SchemaLoiterArea:
			var v struct{ Name, ID, Direction string }
			if d.Into(&v) == nil && v.Name+v.ID != "" {
				return strings.TrimSpace(name + " " + cmp.Or(v.Name, v.ID) + " " + v.Direction)
			}
		}
	}
	return name
}

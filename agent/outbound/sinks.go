package outbound

import (
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/file"
	"vmsbridge/uplink/mqtt"
	"vmsbridge/uplink/vms"
	"vmsbridge/uplink/webhook"
)

// Names of the sinks. Those beside the service are also the names of their cursors in the journal,
// which never change.
const (
	nameService = "service"
	nameBroker  = "mqtt"
	nameFile    = "file"
	nameHook    = "webhook/" // and the hook's id
)

type task = supervisor.Task[*sink]

// tasks are the sinks of a configuration, and the names of their cursors. These are open now,
// beside those that there were: an open one stays the same.
func (o *Outbound) tasks(cfg *configs.Config) (list []task, names []string, err error) {
	if s := cfg.Service; s.URL != "" {
		s.ReportOngoing = false // is nothing to the link
		list = append(list, o.task(nameService, s, func(reg prometheus.Registerer) (supervisor.Worker, error) {
			return o.service(s, cfg.Bridge.ID, reg)
		}))
	}
	cursors := map[string]*journal.Cursor{}
	// add adds a sink that follows the journal. config is all that it is made of.
	add := func(name string, config any, build func(*journal.Cursor, prometheus.Registerer) (supervisor.Worker,
		error)) {
		names = append(names, name)
		list = append(list, o.task(name, config, func(reg prometheus.Registerer) (supervisor.Worker, error) {
			return build(cursors[name], reg)
		}))
	}
	if m := cfg.MQTT; m.URL != "" {
		cameras := camerasOf(cfg)
		add(nameBroker, []any{m, cfg.Bridge, cameras},
			func(c *journal.Cursor, reg prometheus.Registerer) (supervisor.Worker, error) {
				return o.broker(m, cfg.Bridge, cameras, c, reg)
			})
	}
	for _, hook := range cfg.Webhooks {
		add(nameHook+hook.ID, []any{hook, cfg.Bridge.ID},
			func(c *journal.Cursor, reg prometheus.Registerer) (supervisor.Worker, error) {
				return o.hook(hook, cfg.Bridge.ID, c, reg)
			})
	}
	if f := cfg.Lines; f.Path != "" {
		add(nameFile, f, func(c *journal.Cursor, reg prometheus.Registerer) (supervisor.Worker, error) {
			return file.New(file.Options{Path: f.Path, Feed: c, Caps: caps(f.Backlog), Log: o.o.Log, Registerer: reg})
		})
	}
	all := slices.Clone(names)
	for _, s := range o.set.Workers() {
		if s.Name != nameService && !slices.Contains(all, s.Name) {
			all = append(all, s.Name)
		}
	}
	open, err := o.o.Journal.Cursors(all...)
	for _, c := range open {
		cursors[c.Name()] = c
	}
	return list, names, err
}

func (o *Outbound) task(name string, config any, build func(prometheus.Registerer) (supervisor.Worker, error)) task {
	return task{Name: name, Config: config, New: func() (*sink, error) {
		reg := prometheus.NewRegistry()
		w, err := build(reg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &sink{w, reg}, nil
	}}
}

// camerasOf is what the broker is told of the cameras.
func camerasOf(cfg *configs.Config) (list []mqtt.Camera) {
	for _, c := range cfg.Cameras {
		if !c.Enabled {
			continue
		}
		cam := mqtt.Camera{ID: c.ID, Name: c.Name, Tamper: c.Motion.Tamper, Images: cfg.MQTT.Images}
		for _, r := range c.Motion.Regions {
			cam.Regions = append(cam.Regions, mqtt.Region{ID: r.ID, Name: r.Name})
		}
		for _, l := range c.Motion.Lines {
			cam.Lines = append(cam.Lines, mqtt.Region{ID: l.ID, Name: l.Name})
		}
		for _, a := range c.Motion.Areas {
			if a.Intrusion {
				cam.Intruded = append(cam.Intruded, mqtt.Region{ID: a.ID, Name: a.Name})
			}
			if a.Loiter > 0 {
				cam.Loitered = append(cam.Loitered, mqtt.Region{ID: a.ID, Name: a.Name})
			}
		}
		list = append(list, cam)
	}
	return list
}

func caps(b configs.Backlog) delivery.Caps { return delivery.Caps{Events: b.MaxEvents, Age: b.MaxAge} }

// secret reads a file again each time that it is asked for, or gives what the YAML said.
func secret(s configs.Secret, file string) func() (string, error) {
	if file != "" {
		return client.TokenFile(file)
	}
	return func() (string, error) { return s.Reveal(), nil }
}

func (o *Outbound) broker(m configs.MQTT, b configs.Bridge, cameras []mqtt.Camera, feed *journal.Cursor,
	reg prometheus.Registerer) (*mqtt.Broker, error) {
	opts := mqtt.Options{
		URL: m.URL, ClientID: m.ClientID, Username: m.Username, Password: secret(m.Password, m.PasswordFile),
		CAFile: m.CAFile, Fingerprint: m.TLSFingerprint, Prefix: m.Prefix,
		Bridge: mqtt.Bridge{ID: b.ID, Name: b.Name, Version: o.o.Version, Page: o.o.Page}, Cameras: cameras,
		Picture: o.o.Picture,
		Feed:    feed, Caps: caps(m.Backlog), Memory: o.o.Journal, Ongoing: o.ongoing, Log: o.o.Log, Registerer: reg,
	}
	if m.Arm {
		opts.Armed, opts.Arm = o.o.Armed, o.o.Arm
	}
	if m.Discovery {
		opts.Discovery = m.DiscoveryPrefix
	}
	return mqtt.New(opts)
}

// ongoing is all events that have not ended.
func (o *Outbound) ongoing() ([]vms.Event, error) {
	open, err := o.o.Journal.Unfinished()
	list := make([]vms.Event, 0, len(open))
	for _, u := range open {
		list = append(list, u.Event)
	}
	return list, err
}

func (o *Outbound) hook(c configs.Webhook, bridge string, feed *journal.Cursor,
	reg prometheus.Registerer) (*webhook.Hook, error) {
	var show func(vms.Event) vms.Event
	if c.Image != "none" {
		show = func(ev vms.Event) vms.Event { return o.o.Show(c.Image, ev) }
	}
	return webhook.New(webhook.Options{
		Show: show,
		ID:   c.ID, URL: c.URL.Reveal(), Secret: secret(c.Secret, c.SecretFile), CAFile: c.CAFile,
		Fingerprint: c.TLSFingerprint,
		Types:       c.Types, Cameras: c.Cameras, EndedOnly: !c.Ongoing, Timeout: c.Timeout,
		Bridge: bridge, UserAgent: "vmsbridge/" + o.o.Version, Feed: feed, Caps: caps(c.Backlog), Log: o.o.Log,
		Registerer: reg,
	})
}

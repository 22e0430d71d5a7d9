package homes

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/file"
	"vmsbridge/uplink/mqtt"
	"vmsbridge/uplink/vms"
	"vmsbridge/uplink/webhook"
)

// Names of the cursors in the journal.
const (
	brokerCursor = "mqtt"
	fileCursor   = "file"
	hookCursor   = "webhook/" // and the hook's id
)

func wishOf(cfg *configs.Config) wish {
	w := wish{bridge: cfg.Bridge, mqtt: cfg.MQTT, webhooks: cfg.Webhooks, lines: cfg.Lines}
	if cfg.MQTT.URL == "" {
		return w
	}
	for _, c := range cfg.Cameras {
		if !c.Enabled {
			continue
		}
		cam := mqtt.Camera{ID: c.ID, Name: c.Name, Tamper: c.Motion.Tamper}
		for _, r := range c.Motion.Regions {
			cam.Regions = append(cam.Regions, mqtt.Region{ID: r.ID, Name: r.Name})
		}
		w.cameras = append(w.cameras, cam)
	}
	return w
}

// build opens the cursors and makes the homes.
func (h *Homes) build(w wish, reg prometheus.Registerer) (list []runner, err error) {
	var names []string
	if w.mqtt.URL != "" {
		names = append(names, brokerCursor)
	}
	for _, hook := range w.webhooks {
		names = append(names, hookCursor+hook.ID)
	}
	if w.lines.Path != "" {
		names = append(names, fileCursor)
	}
	cursors, err := h.o.Journal.Cursors(names...)
	if err != nil {
		return nil, err
	}
	if w.mqtt.URL != "" {
		m, err := h.broker(w, cursors[0], reg)
		if err != nil {
			return nil, fmt.Errorf("mqtt: %w", err)
		}
		list, cursors = append(list, m), cursors[1:]
	}
	for i, hook := range w.webhooks {
		r, err := h.hook(w, hook, cursors[i], reg)
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", hook.ID, err)
		}
		list = append(list, r)
	}
	if w.lines.Path != "" {
		f, err := file.New(file.Options{Path: w.lines.Path, Feed: cursors[len(w.webhooks)], Caps: caps(w.lines.Backlog), Log: h.o.Log,
			Registerer: reg})
		if err != nil {
			return nil, fmt.Errorf("file: %w", err)
		}
		list = append(list, f)
	}
	return list, nil
}

func caps(b configs.Backlog) delivery.Caps { return delivery.Caps{Events: b.MaxEvents, Age: b.MaxAge} }

// secret reads a file again each time that it is asked for, or gives what the YAML said.
func secret(s configs.Secret, file string) func() (string, error) {
	if file != "" {
		return client.TokenFile(file)
	}
	return func() (string, error) { return s.Reveal(), nil }
}

func (h *Homes) broker(w wish, feed *journal.Cursor, reg prometheus.Registerer) (*mqtt.Broker, error) {
	m := w.mqtt
	o := mqtt.Options{
		URL: m.URL, ClientID: m.ClientID, Username: m.Username, Password: secret(m.Password, m.PasswordFile),
		CAFile: m.CAFile, Fingerprint: m.TLSFingerprint, Prefix: m.Prefix,
		Bridge: mqtt.Bridge{ID: w.bridge.ID, Name: w.bridge.Name, Version: h.o.Version}, Cameras: w.cameras,
		Feed: feed, Caps: caps(m.Backlog), Memory: h.o.Journal, Ongoing: h.ongoing, Log: h.o.Log, Registerer: reg,
	}
	if m.Discovery {
		o.Discovery = m.DiscoveryPrefix
	}
	return mqtt.New(o)
}

// ongoing is all events that have not ended.
func (h *Homes) ongoing() ([]vms.Event, error) {
	open, err := h.o.Journal.Unfinished()
	list := make([]vms.Event, 0, len(open))
	for _, o := range open {
		list = append(list, o.Event)
	}
	return list, err
}

func (h *Homes) hook(w wish, c configs.Webhook, feed *journal.Cursor, reg prometheus.Registerer) (*webhook.Hook, error) {
	return webhook.New(webhook.Options{
		ID: c.ID, URL: c.URL.Reveal(), Secret: secret(c.Secret, c.SecretFile), CAFile: c.CAFile, Fingerprint: c.TLSFingerprint,
		Types: c.Types, Cameras: c.Cameras, EndedOnly: !c.Ongoing, Timeout: c.Timeout,
		Bridge: w.bridge.ID, UserAgent: "vmsbridge/" + h.o.Version, Feed: feed, Caps: caps(c.Backlog), Log: h.o.Log, Registerer: reg,
	})
}

package mqtt

import (
	"encoding/json"
	"slices"
)

// entity is what Home Assistant is told of each thing, as its documentation of "MQTT discovery"
// and of its platforms has it (home-assistant.io/integrations/mqtt, and …/binary_sensor.mqtt,
// image.mqtt, event.mqtt and switch.mqtt); what a platform does not know stays empty. One message
// an entity, not one a device, is what all of its versions take. The names of entities are left to
// it: it makes binary_sensor.gate_motion of the device's name and the entity's.
type entity struct {
	Name         string         `json:"name"`
	UniqueID     string         `json:"unique_id"`
	StateTopic   string         `json:"state_topic,omitempty"`
	CommandTopic string         `json:"command_topic,omitempty"` // of a switch
	ImageTopic   string         `json:"image_topic,omitempty"`
	ContentType  string         `json:"content_type,omitempty"` // of an image
	EventTypes   []string       `json:"event_types,omitempty"`  // of a line, which shows the last crossing and its way
	PayloadOn    string         `json:"payload_on,omitempty"`
	PayloadOff   string         `json:"payload_off,omitempty"`
	DeviceClass  string         `json:"device_class,omitempty"`
	Category     string         `json:"entity_category,omitempty"`
	QoS          int            `json:"qos"`
	Availability []availability `json:"availability,omitempty"`
	Mode         string         `json:"availability_mode,omitempty"`
	Device       device         `json:"device"`
	Origin       origin         `json:"origin"`
}

type availability struct {
	Topic        string `json:"topic"`
	Available    string `json:"payload_available"`
	NotAvailable string `json:"payload_not_available"`
}

type device struct {
	Identifiers  []string `json:"identifiers"`
	Name         string   `json:"name"`
	Manufacturer string   `json:"manufacturer"`
	Model        string   `json:"model"`
	SWVersion    string   `json:"sw_version,omitempty"`
	ViaDevice    string   `json:"via_device,omitempty"`
	Page         string   `json:"configuration_url,omitempty"`
}

type origin struct {
	Name      string `json:"name"`
	SWVersion string `json:"sw_version,omitempty"`
}

// Words of the bridge's own status topic.
const (
	online  = "online"
	offline = "offline"
)

// discovery is what Home Assistant is told, one retained message an entity.
func discovery(n names, b Bridge, cameras []Camera, arm bool) []message {
	var list []message
	add := func(platform string, e entity) {
		e.QoS, e.Origin = 1, origin{"vmsbridge", b.Version}
		if payload, err := json.Marshal(e); err == nil { // it is all text
			list = append(list, message{topic: n.config(platform, e.UniqueID), payload: payload, retain: true})
		}
	}
	sensor := func(class string, e entity) {
		e.DeviceClass = class
		if e.PayloadOn == "" {
			e.PayloadOn, e.PayloadOff = on, off
		}
		add("binary_sensor", e)
	}
	byBridge := []availability{{n.status(), online, offline}}
	arms := func(camera string, d device) {
		if arm {
			add("switch", entity{Name: "Armed", UniqueID: n.armedUnique(camera), StateTopic: n.armed(camera),
				CommandTopic: n.armed(camera) + set, PayloadOn: on, PayloadOff: off, Availability: byBridge, Device: d})
		}
	}
	bridge := device{Identifiers: []string{n.unique()}, Name: b.Name, Manufacturer: "vmsbridge", Model: "bridge",
		SWVersion: b.Version, Page: b.Page}
	arms("", bridge)
	sensor("connectivity", entity{Name: "Connection", UniqueID: n.unique("connectivity"), StateTopic: n.status(),
		PayloadOn: online, PayloadOff: offline, Category: "diagnostic", Device: bridge})
	for _, c := range cameras {
		d := device{Identifiers: []string{n.unique(c.ID)}, Name: c.Name, Manufacturer: "vmsbridge", Model: "camera",
			SWVersion: b.Version, ViaDevice: n.unique()}
		if b.Page != "" {
			d.Page = b.Page + "#/camera/" + c.ID
		}
		arms(c.ID, d)
		sensor("connectivity", entity{Name: "Connection", UniqueID: n.unique(c.ID, "connectivity"),
			StateTopic: n.connectivity(c.ID), Category: "diagnostic", Availability: byBridge, Device: d})
		// Nobody knows whether anything moves before a camera that is not connected.
		seen := append(slices.Clone(byBridge), availability{n.connectivity(c.ID), on, off})
		shows := func(class, name, topic string, unique ...string) {
			sensor(class, entity{Name: name, UniqueID: n.unique(append([]string{c.ID}, unique...)...),
				StateTopic: topic, Availability: seen, Mode: "all", Device: d})
		}
		shows("motion", "Motion", n.motion(c.ID), "motion")
		if c.Images { // which stays what it is while the camera or the bridge is away
			add("image", entity{Name: "Last motion", UniqueID: n.unique(c.ID, "image"), ImageTopic: n.image(c.ID),
				ContentType: "image/jpeg", Device: d})
		}
		for _, r := range c.Regions {
			shows("motion", "Motion "+r.Name, n.region(c.ID, r.ID), "motion", r.ID)
		}
		for _, l := range c.Lines {
			add("event", entity{Name: "Line " + l.Name, UniqueID: n.unique(c.ID, "line", l.ID),
				StateTopic: n.line(c.ID, l.ID), EventTypes: []string{aToB, bToA}, DeviceClass: "motion",
				Availability: seen, Mode: "all", Device: d})
		}
		for _, a := range c.Intruded {
			shows("occupancy", "Intrusion "+a.Name, n.intrusion(c.ID, a.ID), "intrusion", a.ID)
		}
		for _, a := range c.Loitered {
			shows("occupancy", "Loitering "+a.Name, n.loitering(c.ID, a.ID), "loitering", a.ID)
		}
		if c.Tamper {
			shows("tamper", "Tamper", n.tamper(c.ID), "tamper")
		}
	}
	return list
}

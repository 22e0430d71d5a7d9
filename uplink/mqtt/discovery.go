package mqtt

import "encoding/json"

// What Home Assistant is told of each sensor, as its documentation of "MQTT discovery" and of the
// "MQTT binary sensor" has it (home-assistant.io/integrations/mqtt and …/binary_sensor.mqtt). One
// message a sensor, not one a device, is what all of its versions take. The names of entities are
// left to it: it makes binary_sensor.gate_motion of the device's name and the sensor's.
type sensor struct {
	Name         string         `json:"name"`
	UniqueID     string         `json:"unique_id"`
	StateTopic   string         `json:"state_topic"`
	PayloadOn    string         `json:"payload_on"`
	PayloadOff   string         `json:"payload_off"`
	DeviceClass  string         `json:"device_class"`
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

// picture is the entity of a camera's last motion, as …/image.mqtt has it.
type picture struct {
	Name        string `json:"name"`
	UniqueID    string `json:"unique_id"`
	Topic       string `json:"image_topic"`
	ContentType string `json:"content_type"`
	QoS         int    `json:"qos"`
	Device      device `json:"device"`
	Origin      origin `json:"origin"`
}

// crossing is the entity of a line, as …/event.mqtt has it: it shows the last crossing and its way.
type crossing struct {
	Name         string         `json:"name"`
	UniqueID     string         `json:"unique_id"`
	StateTopic   string         `json:"state_topic"`
	EventTypes   []string       `json:"event_types"`
	DeviceClass  string         `json:"device_class"`
	QoS          int            `json:"qos"`
	Availability []availability `json:"availability,omitempty"`
	Mode         string         `json:"availability_mode,omitempty"`
	Device       device         `json:"device"`
	Origin       origin         `json:"origin"`
}

// armSwitch is the entity that arms a camera or the bridge, as …/switch.mqtt has it.
type armSwitch struct {
	Name         string         `json:"name"`
	UniqueID     string         `json:"unique_id"`
	StateTopic   string         `json:"state_topic"`
	CommandTopic string         `json:"command_topic"`
	PayloadOn    string         `json:"payload_on"`
	PayloadOff   string         `json:"payload_off"`
	QoS          int            `json:"qos"`
	Availability []availability `json:"availability"`
	Device       device         `json:"device"`
	Origin       origin         `json:"origin"`
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

// discovery is what Home Assistant is told, one retained message a sensor.
func discovery(n names, b Bridge, cameras []Camera, arm bool) []message {
	var list []message
	bridge := device{Identifiers: []string{n.unique()}, Name: b.Name, Manufacturer: "vmsbridge", Model: "bridge",
		SWVersion: b.Version, Page: b.Page}
	byBridge := availability{n.status(), online, offline}
	tell := func(topic string, what any) {
		if payload, err := json.Marshal(what); err == nil { // it is all text
			list = append(list, message{topic: topic, payload: payload, retain: true})
		}
	}
	add := func(s sensor) {
		s.QoS, s.Origin = 1, origin{"vmsbridge", b.Version}
		tell(n.config(s.UniqueID), s)
	}
	arms := func(camera string, d device) {
		if unique := n.armedUnique(camera); arm {
			tell(n.switchConfig(unique), armSwitch{"Armed", unique, n.armed(camera), n.armed(camera) + set, on, off, 1,
				[]availability{byBridge}, d, origin{"vmsbridge", b.Version}})
		}
	}
	arms("", bridge)
	add(sensor{Name: "Connection", UniqueID: n.unique("connectivity"), StateTopic: n.status(), PayloadOn: online,
		PayloadOff:  offline,
		DeviceClass: "connectivity", Category: "diagnostic", Device: bridge})
	for _, c := range cameras {
		d := device{Identifiers: []string{n.unique(c.ID)}, Name: c.Name, Manufacturer: "vmsbridge", Model: "camera",
			SWVersion: b.Version, ViaDevice: n.unique()}
		if b.Page != "" {
			d.Page = b.Page + "#/camera/" + c.ID
		}
		arms(c.ID, d)
		// Nobody knows whether anything moves before a camera that is not connected.
		seen := []availability{byBridge, {n.connectivity(c.ID), on, off}}
		add(sensor{Name: "Connection", UniqueID: n.unique(c.ID, "connectivity"), StateTopic: n.connectivity(c.ID),
			PayloadOn: on, PayloadOff: off,
			DeviceClass: "connectivity", Category: "diagnostic", Availability: []availability{byBridge}, Device: d})
		add(sensor{Name: "Motion", UniqueID: n.unique(c.ID, "motion"), StateTopic: n.motion(c.ID), PayloadOn: on,
			PayloadOff:  off,
			DeviceClass: "motion", Availability: seen, Mode: "all", Device: d})
		if c.Images { // which stays what it is while the camera or the bridge is away
			tell(n.imageConfig(c.ID), picture{"Last motion", n.unique(c.ID, "image"), n.image(c.ID), "image/jpeg", 1, d,
				origin{"vmsbridge", b.Version}})
		}
		for _, r := range c.Regions {
			add(sensor{Name: "Motion " + r.Name, UniqueID: n.unique(c.ID, "motion", r.ID),
				StateTopic: n.region(c.ID, r.ID), PayloadOn: on, PayloadOff: off,
				DeviceClass: "motion", Availability: seen, Mode: "all", Device: d})
		}
		for _, l := range c.Lines {
			unique := n.unique(c.ID, "line", l.ID)
			tell(n.eventConfig(unique), crossing{"Line " + l.Name, unique, n.line(c.ID, l.ID), []string{aToB, bToA},
				"motion", 1, seen, "all", d, origin{"vmsbridge", b.Version}})
		}
		for _, a := range c.Intruded {
			add(sensor{Name: "Intrusion " + a.Name, UniqueID: n.unique(c.ID, "intrusion", a.ID),
				StateTopic: n.intrusion(c.ID, a.ID), PayloadOn: on, PayloadOff: off,
				DeviceClass: "occupancy", Availability: seen, Mode: "all", Device: d})
		}
		for _, a := range c.Loitered {
			add(sensor{Name: "Loitering " + a.Name, UniqueID: n.unique(c.ID, "loitering", a.ID),
				StateTopic: n.loitering(c.ID, a.ID), PayloadOn: on, PayloadOff: off,
				DeviceClass: "occupancy", Availability: seen, Mode: "all", Device: d})
		}
		if c.Tamper {
			add(sensor{Name: "Tamper", UniqueID: n.unique(c.ID, "tamper"), StateTopic: n.tamper(c.ID), PayloadOn: on,
				PayloadOff:  off,
				DeviceClass: "tamper", Availability: seen, Mode: "all", Device: d})
		}
	}
	return list
}

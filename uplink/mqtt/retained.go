package mqtt

import (
	"encoding/json"
	"slices"
)

// Memory is a small store that lasts: the journal is one.
type Memory interface {
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
}

// memoryKey is where it remembers what it has published as retained.
const memoryKey = "mqtt.retained"

// published is what may lie at the broker as retained: enough to make its topics again. A camera
// that is taken out of the configuration would else stay in Home Assistant for ever.
type published struct {
	Prefix    string             `json:"prefix"`
	Discovery string             `json:"discovery,omitempty"`
	Arm       bool               `json:"arm,omitempty"`
	Cameras   map[string]sensors `json:"cameras"`
}

// sensors are those of a camera.
type sensors struct {
	Tamper  bool     `json:"tamper,omitempty"`
	Images  bool     `json:"images,omitempty"`
	Regions []string `json:"regions,omitempty"`

	Lines    []string `json:"lines,omitempty"`
	Intruded []string `json:"intruded,omitempty"`
	Loitered []string `json:"loitered,omitempty"`
}

func publishedBy(n names, cameras []Camera, arm bool) published {
	p := published{Prefix: n.prefix, Discovery: n.discovery, Arm: arm, Cameras: map[string]sensors{}}
	for _, c := range cameras {
		p.Cameras[c.ID] = sensors{Tamper: c.Tamper, Images: c.Images, Regions: idsOf(c.Regions), Lines: idsOf(c.Lines),
			Intruded: idsOf(c.Intruded), Loitered: idsOf(c.Loitered)}
	}
	return p
}

func idsOf(list []Region) (ids []string) {
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

// topics is everything that it may have published, those of the bridge too.
func (p published) topics(bridge string) []string {
	n := names{prefix: p.Prefix, discovery: p.Discovery, bridge: bridge}
	list := []string{n.status()}
	add := func(topic, unique string) {
		if topic != "" {
			list = append(list, topic)
		}
		if p.Discovery != "" {
			list = append(list, n.config(unique))
		}
	}
	add("", n.unique("connectivity"))
	armed := func(camera string) {
		if p.Arm {
			list = append(list, n.armed(camera))
			if p.Discovery != "" {
				list = append(list, n.switchConfig(n.armedUnique(camera)))
			}
		}
	}
	armed("")
	for c, s := range p.Cameras {
		armed(c)
		add(n.connectivity(c), n.unique(c, "connectivity"))
		add(n.motion(c), n.unique(c, "motion"))
		if s.Tamper {
			add(n.tamper(c), n.unique(c, "tamper"))
		}
		if s.Images {
			list = append(list, n.image(c))
			if p.Discovery != "" {
				list = append(list, n.imageConfig(c))
			}
		}
		for _, r := range s.Regions {
			add(n.region(c, r), n.unique(c, "motion", r))
		}
		for _, l := range s.Lines {
			if p.Discovery != "" { // the crossings themselves are not retained
				list = append(list, n.eventConfig(n.unique(c, "line", l)))
			}
		}
		for _, a := range s.Intruded {
			add(n.intrusion(c, a), n.unique(c, "intrusion", a))
		}
		for _, a := range s.Loitered {
			add(n.loitering(c, a), n.unique(c, "loitering", a))
		}
	}
	slices.Sort(list)
	return list
}

// recall is what was published before, by this run or an earlier one. What cannot be read is
// forgotten.
func (b *Broker) recall() (list []published) {
	raw, err := b.opts.Memory.Meta(memoryKey)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		b.Log().Warn("what lies at the broker from before is not known; it stays", "error", err)
	}
	return list
}

// remember notes durably what may lie at the broker. Without the note, which a full disk may
// refuse, a camera that is taken out of the configuration later stays there; that is no reason to
// publish nothing.
func (b *Broker) remember(list ...published) {
	raw, err := json.Marshal(list)
	if err == nil {
		err = b.opts.Memory.SetMeta(memoryKey, raw)
	}
	if err != nil {
		b.Log().Warn("note what is published at the broker", "error", err)
	}
}

// stale is the messages that take away what was published before and is not any more. An empty
// retained message does. Pictures of cameras that go on having them stay.
func stale(before []published, now published, bridge string, kept []message) (list []message) {
	keep := map[string]bool{}
	for c, s := range now.Cameras {
		keep[names{prefix: now.Prefix}.image(c)] = s.Images
	}
	for _, m := range kept {
		keep[m.topic] = true
	}
	for _, p := range before {
		for _, topic := range p.topics(bridge) {
			if !keep[topic] {
				keep[topic] = true
				list = append(list, message{topic: topic, retain: true})
			}
		}
	}
	return list
}

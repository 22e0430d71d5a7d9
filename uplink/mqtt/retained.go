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

// memoryKey is where it remembers the topics under which it has published something as retained. A
// camera that is taken out of the configuration would else stay in Home Assistant for ever.
const memoryKey = "mqtt.retained"

// retained are the topics that hold something once the messages are published, and the pictures
// that follow them.
func (b *Broker) retained(list []message) (topics []string) {
	for _, m := range list {
		if m.retain {
			topics = append(topics, m.topic)
		}
	}
	for _, c := range b.opts.Cameras {
		if c.Images {
			topics = append(topics, b.names.image(c.ID))
		}
	}
	slices.Sort(topics)
	return topics
}

// recall is what was published before, by this run or an earlier one. What cannot be read is
// forgotten.
func (b *Broker) recall() (topics []string) {
	raw, err := b.opts.Memory.Meta(memoryKey)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &topics)
	}
	if err != nil {
		b.Log().Warn("what lies at the broker from before is not known; it stays", "error", err)
	}
	return topics
}

// remember notes durably what may lie at the broker. Without the note, which a full disk may
// refuse, a camera that is taken out of the configuration later stays there; that is no reason to
// publish nothing.
func (b *Broker) remember(topics []string) {
	raw, err := json.Marshal(topics)
	if err == nil {
		err = b.opts.Memory.SetMeta(memoryKey, raw)
	}
	if err != nil {
		b.Log().Warn("note what is published at the broker", "error", err)
	}
}

// stale is the messages that take away what was published before and is not any more. An empty
// retained message does.
func stale(before, now []string) (list []message) {
	for _, topic := range before {
		if _, kept := slices.BinarySearch(now, topic); !kept {
			list = append(list, message{topic: topic, retain: true})
		}
	}
	return list
}

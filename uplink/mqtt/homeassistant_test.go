package mqtt

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// haKind is a kind of value in the schemas of Home Assistant, which leaves an entity out whose
// message does not fit, and says so in its own log only. These are its schemas as far as anything
// of ours is in them (homeassistant/components/mqtt: binary_sensor.py, event.py, image.py,
// switch.py, config.py, schemas.py, discovery.py, util.py). On 2026-11-25 the messages of a bridge
// were held against the schemas themselves, too.
type haKind func(any) bool

var (
	haText   haKind = func(v any) bool { _, ok := v.(string); return ok }
	haCoding haKind = func(v any) bool { return haOneOf(0.0, 1.0, 2.0)(v) }
	haTopic  haKind = func(v any) bool {
		s, ok := v.(string)
		return ok && s != "" && len(s) <= 65535 && !strings.ContainsAny(s, "+#") &&
			!regexp.MustCompile(`[\x00-\x1f\x7f-\x9f]`).MatchString(s)
	}
	haURL haKind = func(v any) bool {
		s, _ := v.(string)
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	}
	haDevice = haKeys{"identifiers": haListOf(haText), "name": haText, "manufacturer": haText, "model": haText,
		"sw_version": haText, "via_device": haText, "configuration_url": haURL}.need("identifiers")
	haOrigin    = haKeys{"name": haText, "sw_version": haText, "support_url": haURL}.need("name")
	haAvailable = haKeys{"topic": haTopic, "payload_available": haText, "payload_not_available": haText}.need("topic")
	haCommon    = haKeys{"name": haText, "unique_id": haText, "qos": haCoding, "device": haDevice, "origin": haOrigin,
		"entity_category": haOneOf("config", "diagnostic"), "availability": haListOf(haAvailable),
		"availability_mode": haOneOf("all", "any", "latest")}
	haPlatforms = map[string]haKind{
		"binary_sensor": haCommon.and(haKeys{"state_topic": haTopic, "payload_on": haText, "payload_off": haText,
			"device_class": haOneOf("connectivity", "motion", "occupancy", "tamper")}).need("state_topic"),
		"switch": haCommon.and(haKeys{"state_topic": haTopic, "command_topic": haTopic, "payload_on": haText,
			"payload_off": haText}).need("command_topic"),
		"event": haCommon.and(haKeys{"state_topic": haTopic, "event_types": haListOf(haText),
			"device_class": haOneOf("button", "doorbell", "motion")}).need("state_topic", "event_types"),
		"image": haCommon.and(haKeys{"image_topic": haTopic, "content_type": haText}).need("image_topic"),
	}
	haConfigTopic = regexp.MustCompile(`^homeassistant/(\w+)/[a-zA-Z0-9_-]+/config$`)
)

func haOneOf(these ...any) haKind { return func(v any) bool { return slices.Contains(these, v) } }

func haListOf(kind haKind) haKind {
	return func(v any) bool {
		list, ok := v.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !kind(v) })
	}
}

// haKeys are those that an object may have.
type haKeys map[string]haKind

func (k haKeys) and(more haKeys) haKeys {
	all := haKeys{}
	for _, keys := range []haKeys{k, more} {
		for key, kind := range keys {
			all[key] = kind
		}
	}
	return all
}

// need is an object that has these, and none but those of k.
func (k haKeys) need(these ...string) haKind {
	return func(v any) bool {
		object, ok := v.(map[string]any)
		for key, value := range object {
			ok = ok && k[key] != nil && k[key](value)
		}
		for _, key := range these {
			ok = ok && object[key] != nil
		}
		return ok
	}
}

// All that Home Assistant is told fits the schema of its platform, whatever things are called, with
// and without what is left out where it is empty.
func TestDiscoveryFitsTheSchemasOfHomeAssistant(t *testing.T) {
	t.Parallel()
	o := Options{Cameras: []Camera{
		{ID: "gate", Name: "<script>alert(1)</script> Hof & \"Süd\"", Tamper: true,
			Regions: []Region{{"door", "Tür 🚪"}}},
		{ID: "a.b_c:d-e", Name: "+/#"}}}
	withPictures(&o)
	withLines(&o)
	for _, b := range []Bridge{{ID: "b1", Name: "Box"},
		{ID: "b.1", Name: "Box <b>1</b>", Version: "1.2", Page: "https://[fd00::1]:8480/"}} {
		seen := map[string]int{}
		devices, via := map[string]any{}, map[string]any{}
		for _, m := range discovery(names{"vmsbridge/" + b.ID, "homeassistant", b.ID}, b, o.Cameras, true) {
			require.Regexp(t, haConfigTopic, m.topic)
			platform := haConfigTopic.FindStringSubmatch(m.topic)[1]
			var c any
			require.NoError(t, json.Unmarshal(m.payload, &c))
			require.Contains(t, haPlatforms, platform)
			require.True(t, haPlatforms[platform](c), "%s %s", m.topic, m.payload)
			seen[platform]++
			device := c.(map[string]any)["device"].(map[string]any)
			id := device["identifiers"].([]any)[0].(string)
			if devices[id] == nil {
				devices[id] = device
			}
			require.Equal(t, devices[id], device, "each message of a device says the same of it")
			if to, ok := device["via_device"].(string); ok {
				via[to] = true
			}
		}
		require.Len(t, seen, 4, "each platform is looked at: %v", seen)
		for id := range via {
			require.Contains(t, devices, id)
		}
	}
}

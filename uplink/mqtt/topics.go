package mqtt

import (
	"fmt"
	"strings"
)

// names makes topics and ids. Cameras' and regions' ids hold letters, digits and . _ : - only, so
// they may stand in topics.
type names struct{ prefix, discovery, bridge string }

func (n names) status() string { return n.prefix + "/status" }
func (n names) events() string { return n.prefix + "/events" }

// armed is of a camera, or of the bridge: "".
func (n names) armed(camera string) string {
	if camera == "" {
		return n.prefix + "/armed"
	}
	return n.prefix + "/" + camera + "/armed"
}

// armedUnique is the id of the switch of a camera, or of the bridge: "".
func (n names) armedUnique(camera string) string {
	if camera == "" {
		return n.unique("armed")
	}
	return n.unique(camera, "armed")
}

func (n names) motion(camera string) string         { return n.prefix + "/" + camera + "/motion" }
func (n names) tamper(camera string) string         { return n.prefix + "/" + camera + "/tamper" }
func (n names) connectivity(camera string) string   { return n.prefix + "/" + camera + "/connectivity" }
func (n names) image(camera string) string          { return n.prefix + "/" + camera + "/image" }
func (n names) region(camera, region string) string { return n.motion(camera) + "/" + region }
func (n names) line(camera, line string) string     { return n.prefix + "/" + camera + "/line/" + line }
func (n names) intrusion(camera, area string) string {
	return n.prefix + "/" + camera + "/intrusion/" + area
}
func (n names) loitering(camera, area string) string {
	return n.prefix + "/" + camera + "/loitering/" + area
}

// unique is an id for Home Assistant, which must never change for the same thing, nor be that of
// another.
func (n names) unique(parts ...string) string {
	all := []string{"vmsbridge", plain(n.bridge)}
	for _, p := range parts {
		all = append(all, plain(p))
	}
	return strings.Join(all, "_")
}

// config is where Home Assistant looks for what an entity of a platform is.
func (n names) config(platform, unique string) string {
	return n.discovery + "/" + platform + "/" + unique + "/config"
}

// plain writes an id with what Home Assistant takes in the topics where it looks: [a-zA-Z0-9_-].
// Everything else, and _ itself, which stands between parts, becomes -xx, the byte in hex digits,
// so that no two ids become one.
func plain(id string) string {
	var b strings.Builder
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "-%02x", c)
		}
	}
	return b.String()
}

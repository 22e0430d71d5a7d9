package configs

import (
	"reflect"
	"slices"
	"strings"
)

// Diff lists the keys in which two configurations differ, as a person finds them in the file:
// "stills.max_size", "api.tokens". Lists count as one key, and `cameras` is left out: who compares
// those wants to know which. Values are never repeated. What cameras inherit from `motion` is
// theirs already.
func Diff(a, b *Config) []string {
	var keys []string
	before, after := leaves(a), leaves(b)
	for at, v := range before {
		if at != "cameras" && !reflect.DeepEqual(v.Interface(), after[at].Interface()) {
			keys = append(keys, at)
		}
	}
	if a.MQTT.URL == "" && b.MQTT.URL == "" { // what follows from the bridge's id means nothing without a broker
		keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, "mqtt.") })
	}
	slices.Sort(keys)
	return keys
}

// leaves are the values that are no groups of keys, by their paths.
func leaves(c *Config) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	var below func(group reflect.Value, path string)
	below = func(group reflect.Value, path string) {
		for key, v := range fieldsOf(group) {
			if at := join(path, key); v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[Secret]() {
				below(v, at)
			} else {
				out[at] = v
			}
		}
	}
	below(reflect.ValueOf(c).Elem(), "")
	return out
}

// Take copies the values of the given keys, as Diff names them, from another configuration. Slices
// are shared from then on.
func (c *Config) Take(from *Config, keys []string) {
	mine, theirs := leaves(c), leaves(from)
	for _, key := range keys {
		if v, ok := mine[key]; ok {
			v.Set(theirs[key])
		}
	}
}

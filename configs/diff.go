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
	diff(reflect.ValueOf(*a), reflect.ValueOf(*b), "", &keys)
	if a.MQTT.URL == "" && b.MQTT.URL == "" { // what follows from the bridge's id means nothing without a broker
		keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, "mqtt.") })
	}
	slices.Sort(keys)
	return keys
}

func diff(a, b reflect.Value, path string, keys *[]string) {
	t := a.Type()
	for i := range t.NumField() {
		key, option, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		x, y := a.Field(i), b.Field(i)
		switch at := join(path, key); {
		case key == "-" || at == "cameras":
		case option == "inline":
			diff(x, y, path, keys)
		case x.Kind() == reflect.Struct && x.Type() != reflect.TypeFor[Secret]():
			diff(x, y, at, keys)
		case !reflect.DeepEqual(x.Interface(), y.Interface()):
			*keys = append(*keys, at)
		}
	}
}

// Take copies the values of the given keys, as Diff names them, from another configuration. Slices
// are shared from then on.
func (c *Config) Take(from *Config, keys []string) {
	take(reflect.ValueOf(c).Elem(), reflect.ValueOf(*from), "", keys)
}

func take(to, from reflect.Value, path string, keys []string) {
	t := to.Type()
	for i := range t.NumField() {
		key, option, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch at := join(path, key); {
		case key == "-":
		case slices.Contains(keys, at):
			to.Field(i).Set(from.Field(i))
		case option == "inline":
			take(to.Field(i), from.Field(i), path, keys)
		case to.Field(i).Kind() == reflect.Struct && to.Field(i).Type() != reflect.TypeFor[Secret]():
			take(to.Field(i), from.Field(i), at, keys)
		}
	}
}

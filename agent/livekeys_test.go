package agent

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

// Every key that is said to hold at once is one of the configuration's.
func TestLiveKeysExist(t *testing.T) {
	var keys []string
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		for i := range of.NumField() {
			f := of.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key == "" || key == "-" {
				continue
			}
			at := strings.TrimPrefix(path+"."+key, ".")
			keys = append(keys, at)
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[configs.Secret]() {
				walk(f.Type, at)
			}
		}
	}
	walk(reflect.TypeFor[configs.Config](), "")
	for _, live := range liveKeys {
		require.True(t, slices.Contains(keys, live), "there is no key %s", live)
	}
}

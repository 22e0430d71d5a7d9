package registry

import (
	"encoding/json"
	"log/slog"

	"vmsbridge/storage/database"
)

// Options of Open and Hold. The zero value works.
type Options struct {
	// Log receives what someone should know of. Nil logs nothing.
	Log *slog.Logger
	// OnDamage is called when a damaged file was replaced. It must not call the Registry.
	OnDamage func(database.Damage)
}

// options say what there is to know of the file for those who open, check or repair it.
func options(o Options) database.Options {
	return database.Options{
		Name: "registry", Buckets: [][]byte{[]byte(bucketBridges), []byte(bucketActors), []byte(bucketKeys),
			[]byte(bucketSubscriptions)}, Log: o.Log, OnDamage: o.OnDamage,
		Copied: func(string) bool { return true },
		Sound: func(bucket string, _, v []byte) error {
			switch bucket {
			case bucketBridges:
				return json.Unmarshal(v, &Bridge{})
			case bucketActors:
				return json.Unmarshal(v, &Actor{})
			case bucketSubscriptions:
				return json.Unmarshal(v, &map[string]any{})
			}
			return nil
		},
	}
}

// FileOptions say what there is to know of the file, for those who look at it as it is.
func FileOptions() database.Options { return options(Options{}) }

// Hold is the file of a program that does not run, for checking and repairing it.
func Hold(path string, o Options) (*database.Held, error) { return database.Hold(path, options(o)) }

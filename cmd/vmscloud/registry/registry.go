package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/vms"
)

var (
	bucketBridges = []byte("bridges") // bridge id → bridge
	bucketActors  = []byte("actors")  // actor id → actor
	bucketKeys    = []byte("keys")    // "page-token" → key
)

// Bridge is what the registry keeps of a bridge.
type Bridge struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Token   string `json:"token"` // of its local API: never shown
	// Holder is whose credential registered it (identity.Principal): as long as that stands, no other may speak for the bridge.
	Holder  string    `json:"holder,omitempty"`
	Created time.Time `json:"created"`
}

// Actor is who may have events: a camera or bridge that was registered, or another kind that has reported once. Ids are
// one space for all accounts and kinds, because the id of an event is built of them.
type Actor struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Account string    `json:"account"`
	Bridge  string    `json:"bridge,omitempty"`
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"`
	// Gone says that its bridge no longer has the camera. Its events stay.
	Gone bool `json:"gone,omitempty"`
	// Released says that the next other bridge that registers the camera may have it.
	Released bool `json:"released,omitempty"`
	// Status is the last one heard, by registration or status event, and when it began.
	Status      string    `json:"status,omitempty"`
	StatusSince time.Time `json:"statusSince,omitzero"`
}

// Registry knows the bridges and actors of all accounts. It keeps them in memory and, durably, in a bbolt file. Safe for
// concurrent use.
type Registry struct {
	// Away says whether a device is out of reach; nil: none is. Set before the registry is used, it must not call back.
	Away func(account string, device vms.Actor) bool
	// Holds says whether the holder of a credential may still act, and what people call it; nil: all may. As Away.
	Holds func(holder string) (name string, stands bool, err error)

	db  *database.DB
	now func() time.Time

	mu      sync.RWMutex // guards all below; held for writing over the file's transaction too
	bridges map[string]Bridge
	actors  map[string]Actor
	held    map[string]int // holder → how many bridges it has
}

// Open opens the registry in the file at path, making it if need be. One process at a time can have it open. Damage costs what is
// damaged; everything is kept twice: see package database.
func Open(path string) (*Registry, error) { return OpenWith(path, Options{}) }

// OpenWith is Open with somebody to tell of damage.
func OpenWith(path string, o Options) (*Registry, error) {
	db, err := database.Open(path, options(o))
	if err != nil {
		return nil, err
	}
	r := &Registry{db: db, now: time.Now, bridges: map[string]Bridge{}, actors: map[string]Actor{}, held: map[string]int{}}
	if err := r.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("read registry %s: %w", path, err), db.Close())
	}
	return r, nil
}

func (r *Registry) load() error {
	return r.db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketBridges, bucketActors, bucketKeys} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		err := tx.Bucket(bucketBridges).ForEach(func(k, v []byte) error {
			var b Bridge
			err := json.Unmarshal(v, &b)
			b.ID = string(k)
			r.setLocked(b)
			return err
		})
		if err != nil {
			return err
		}
		return tx.Bucket(bucketActors).ForEach(func(k, v []byte) error {
			var a Actor
			err := json.Unmarshal(v, &a)
			r.actors[string(k)] = a
			return err
		})
	})
}

// File is the file below the registry.
func (r *Registry) File() *database.DB { return r.db }

// Close ends it.
func (r *Registry) Close() error { return r.db.Close() }

// Key is the secret of a name, the same at every start. fresh makes it the first time.
func (r *Registry) Key(name string, fresh func() []byte) ([]byte, error) {
	var key []byte
	err := r.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketKeys)
		if key = slices.Clone(b.Get([]byte(name))); key != nil {
			return nil
		}
		key = fresh()
		return b.Put([]byte(name), key)
	})
	return key, err
}

func (r *Registry) save(b Bridge, actors map[string]Actor) error {
	return r.db.Update(func(tx *bolt.Tx) error {
		if b.ID != "" {
			if err := putJSON(tx.Bucket(bucketBridges), b.ID, b); err != nil {
				return err
			}
		}
		for id, a := range actors {
			if err := putJSON(tx.Bucket(bucketActors), id, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func putJSON(b *bolt.Bucket, id string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put([]byte(id), raw)
}

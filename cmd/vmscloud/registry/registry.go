package registry

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/vms"
)

// Bridge is what the registry keeps of a bridge.
type Bridge struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Token   string `json:"token"` // of its local API: never shown
	// Holder is whose credential registered it (identity.Principal): as long as that stands, no
	// other may speak for the bridge.
	Holder  string    `json:"holder,omitempty"`
	Created time.Time `json:"created"`
}

// Key names the bridge among those of all accounts, as for its tunnel.
func (b Bridge) Key() string { return Key(b.Account, b.ID) }

// Key is the name of an account's id among all accounts. No id has a slash.
func Key(account, id string) string { return account + "/" + id }

// Actor is who may have events: a camera or bridge that was registered, or another kind that has
// reported once. Ids are one space for all kinds of an account, because the id of an event is built
// of them.
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
	// Untold are changes that nobody was told of yet: see Changes.
	Untold Changes `json:"untold,omitempty"`
	// Described is what people said of a camera, nil for nothing. It is not changed in place.
	Described *vms.Description `json:"described,omitempty"`
}

// shownName is what to call an actor: what people call it, else what its bridge's configuration
// says.
func (a Actor) shownName() string {
	if a.Described != nil && a.Described.Name != "" {
		return a.Described.Name
	}
	return a.Name
}

// camera says whether it is a camera that its bridge has.
func (a Actor) camera() bool { return a.Type == vms.ActorCamera && !a.Gone }

// listed says whether it is a bridge, or a camera that its bridge has.
func (a Actor) listed() bool { return a.Type == vms.ActorBridge && !a.Gone || a.camera() }

// Registry knows the bridges and actors of all accounts. It keeps them in memory and, durably, in
// records. Safe for concurrent use.
type Registry struct {
	// Away says whether a device is out of reach; nil: none is. Set before the registry is used, it
	// must not call back.
	Away func(account string, device vms.Actor) bool
	// LastSeen is when a bridge was last heard of; zero: that is not known. As Away.
	LastSeen func(account, bridge string) time.Time
	// Holds says whether the holder of a credential may still act, and what people call it; nil:
	// all may. As Away.
	Holds func(holder string) (name string, stands bool, err error)
	// Limits are what each account may have. Quota is how many cameras one may have by its own
	// record, 0 if that does not say; nil: none says. As Away.
	Limits Limits
	Quota  func(account string) (cameras int, err error)

	records database.Store
	file    *database.DB // nil: the records are in no file
	now     func() time.Time

	// writeMu is held by whoever changes something, over the file's transaction; what is below
	// changes only while it is held.
	writeMu sync.Mutex
	// mu guards all below. It is taken after writeMu, and never held over the file's transaction:
	// requests wait for no disk.
	mu       sync.RWMutex
	accounts map[string]*tenant
	held     map[string][]string // holder → the Keys of its bridges, in order
}

// Open opens the registry in the file at path, making it if need be. One process at a time can have
// it open. Damage costs what is damaged; everything is kept twice: see package database.
func Open(path string) (*Registry, error) { return OpenWith(path, Options{}) }

// OpenWith is Open with somebody to tell of damage.
func OpenWith(path string, o Options) (*Registry, error) {
	db, err := database.Open(path, options(o))
	if err != nil {
		return nil, err
	}
	r, err := New(database.InFile(db))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read registry %s: %w", path, err), db.Close())
	}
	r.file = db
	return r, nil
}

// New is the registry in records, which nobody else may change while it is open. Close closes them.
func New(stored database.Store) (*Registry, error) {
	r := &Registry{records: stored, now: time.Now, accounts: map[string]*tenant{}, held: map[string][]string{}}
	return r, r.load()
}

// File is the file below the registry, nil if it is not in one.
func (r *Registry) File() *database.DB { return r.file }

// Close ends it.
func (r *Registry) Close() error { return r.records.Close() }

// Key is the secret of a name, the same at every start. fresh makes it the first time.
func (r *Registry) Key(name string, fresh func() []byte) ([]byte, error) {
	var key []byte
	err := r.records.Update(func(tx database.Tx) error {
		b := tx.Bucket(bucketKeys)
		if key = slices.Clone(b.Get([]byte(name))); key != nil {
			return nil
		}
		key = fresh()
		return b.Put([]byte(name), key)
	})
	return key, err
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

var (
	bucketBridges = []byte("bridges") // bridge id → bridge
	bucketActors  = []byte("actors")  // actor id → actor
	bucketKeys    = []byte("keys")    // "page-token" → key
)

// bridgeAway is how long after its last registration, which it renews every minute, a bridge without a tunnel
// counts as offline.
const bridgeAway = 3 * time.Minute

// bridge is what the registry keeps of a bridge.
type bridge struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Token   string `json:"token"` // of its local API: never shown
	// Holder is whose credential registered it (identity.Principal): as long as that stands, no other may speak for the bridge.
	Holder  string    `json:"holder,omitempty"`
	Created time.Time `json:"created"`
	seen    time.Time // last registration since this program started
}

// actor is who may have events: a camera or bridge that was registered, or another kind that has reported once. Ids are
// one space for all accounts and kinds, because the id of an event is built of them.
type actor struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Account string    `json:"account"`
	Bridge  string    `json:"bridge,omitempty"`
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"`
	// Gone says that its bridge no longer has the camera. Its events stay.
	Gone bool `json:"gone,omitempty"`
	// Status is the last one heard, by registration or status event, and when it began.
	Status      string    `json:"status,omitempty"`
	StatusSince time.Time `json:"statusSince,omitzero"`
}

// registry knows the bridges and actors of all accounts. It keeps them in memory and, durably, in a bbolt file. Safe for
// concurrent use.
type registry struct {
	db  *bolt.DB
	now func() time.Time
	// stands says whether a bridge has a tunnel; nil: none has. Set before the registry is used, it must not call back.
	stands func(bridge string) bool
	// holds says whether the holder of a credential may still act, and what people call it; nil: all may. As stands.
	holds func(holder string) (name string, stands bool, err error)

	mu      sync.RWMutex // guards bridges and actors; held for writing over the file's transaction too
	bridges map[string]bridge
	actors  map[string]actor
}

func openRegistry(path string) (*registry, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("open registry %s: %w", path, err)
	}
	r := &registry{db: db, now: time.Now, bridges: map[string]bridge{}, actors: map[string]actor{}}
	if err := r.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("read registry %s: %w", path, err), db.Close())
	}
	return r, nil
}

func (r *registry) load() error {
	return r.db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketBridges, bucketActors, bucketKeys} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		err := tx.Bucket(bucketBridges).ForEach(func(k, v []byte) error {
			var b bridge
			err := json.Unmarshal(v, &b)
			r.bridges[string(k)] = b
			return err
		})
		if err != nil {
			return err
		}
		return tx.Bucket(bucketActors).ForEach(func(k, v []byte) error {
			var a actor
			err := json.Unmarshal(v, &a)
			r.actors[string(k)] = a
			return err
		})
	})
}

func (r *registry) Close() error { return r.db.Close() }

// key is the secret of a name, the same at every start. fresh makes it the first time.
func (r *registry) key(name string, fresh func() []byte) ([]byte, error) {
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

// Register takes in what a bridge says of itself. A bridge or camera of another account is a conflict; within an account
// a camera may move to another bridge, as when a box is swapped. A bridge that another credential has registered is a conflict
// too, until that one is revoked or expires.
func (r *registry) Register(_ context.Context, p identity.Principal, reg vms.Registration) error {
	for {
		r.mu.RLock()
		b, known := r.bridges[reg.ID]
		r.mu.RUnlock()
		if known && b.Account == p.AccountID {
			// Not under the lock: the identity file is asked, and who holds a transaction there may wait for the registry.
			if err := r.mayHold(b, p); err != nil {
				return err
			}
		}
		if done, err := r.registerOver(b, p, reg); done || err != nil {
			return err
		}
	}
}

// registerOver takes in what a bridge says of itself in place of was, the zero bridge if there was none. It is not done if the
// bridge changed hands meanwhile.
func (r *registry) registerOver(was bridge, p identity.Principal, reg vms.Registration) (done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now().UTC()
	b, known := r.bridges[reg.ID]
	if b.Holder != was.Holder || b.Account != was.Account {
		return false, nil
	}
	return true, r.registerLocked(b, known, now, p, reg)
}

// registerLocked takes in what a bridge says of itself; b is what is known of it.
func (r *registry) registerLocked(b bridge, known bool, now time.Time, p identity.Principal, reg vms.Registration) error {
	if known && b.Account != p.AccountID {
		return conflict("bridge", reg.ID)
	}
	next := bridge{ID: reg.ID, Account: p.AccountID, Name: reg.Name, Address: strings.TrimRight(reg.Address, "/"),
		Token: reg.ImageToken, Holder: cmp.Or(p.Holder, b.Holder), Created: b.Created, seen: now}
	if !known {
		next.Created = now
	}
	changed := map[string]actor{}
	wanted := map[string]bool{reg.ID: true}
	self := actor{ID: reg.ID, Type: vms.ActorBridge, Account: p.AccountID, Name: reg.Name}
	if err := r.upsert(changed, self, now); err != nil {
		return err
	}
	for _, c := range reg.Cameras {
		a := actor{ID: c.ID, Type: vms.ActorCamera, Account: p.AccountID, Bridge: reg.ID, Name: c.Name, Status: c.ConnectionStatus}
		if err := r.upsert(changed, a, now); err != nil {
			return err
		}
		wanted[c.ID] = true
	}
	for id, a := range r.actors {
		if a.Bridge == reg.ID && !a.Gone && !wanted[id] {
			a.Gone = true
			changed[id] = a
		}
	}
	old := b
	old.seen = next.seen
	if old != next || len(changed) > 0 {
		if err := r.save(next, changed); err != nil {
			return err
		}
	}
	r.bridges[reg.ID] = next
	for id, a := range changed {
		r.actors[id] = a
	}
	return nil
}

// upsert notes in changed what becomes of an actor that is registered as want, if that differs from what is known.
func (r *registry) upsert(changed map[string]actor, want actor, now time.Time) error {
	old, known := r.actors[want.ID]
	if c, ok := changed[want.ID]; ok {
		old, known = c, true
	}
	if known && (old.Account != want.Account || old.Type != want.Type) {
		return conflict(want.Type, want.ID)
	}
	want.Created, want.StatusSince = old.Created, old.StatusSince
	if !known {
		want.Created = now
	}
	if want.Status == "" {
		want.Status = old.Status
	} else if want.Status != old.Status {
		want.StatusSince = now
	}
	if !known || want != old {
		changed[want.ID] = want
	}
	return nil
}

// mayHold is nil if a credential may speak for a bridge: its own, or another one after that was revoked.
func (r *registry) mayHold(b bridge, p identity.Principal) error {
	if b.Holder == "" || b.Holder == p.Holder {
		return nil
	}
	name := b.Holder
	if r.holds != nil {
		called, stands, err := r.holds(b.Holder)
		if err != nil {
			return err
		}
		if !stands {
			return nil
		}
		name = strconv.Quote(called) + " (" + b.Holder + ")"
	}
	return vms.NewError(http.StatusConflict, vms.ReasonExists, "The bridge "+b.ID+" is registered with another credential, "+name+
		", which is still good. If this one shall take its place, let the operator say so: vmscloud bridge release "+b.ID+"; else give this bridge another id")
}

func conflict(kind, id string) error {
	return vms.NewError(http.StatusConflict, vms.ReasonExists,
		"The id "+id+" of this "+kind+" belongs to something else already; give it another id in the bridge's configuration")
}

func (r *registry) save(b bridge, actors map[string]actor) error {
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

// Cameras lists an account's cameras in the order of their ids, with their status.
func (r *registry) Cameras(_ context.Context, account string) ([]vms.Camera, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []vms.Camera
	for _, a := range r.actors {
		if a.Account == account && a.Type == vms.ActorCamera && !a.Gone {
			out = append(out, vms.Camera{ID: a.ID, AccountID: a.Account, Name: a.Name, BridgeID: a.Bridge,
				CreateTimestamp: vms.At(a.Created), Status: &vms.ConnectionStatus{ConnectionStatus: r.statusLocked(a)}})
		}
	}
	slices.SortFunc(out, func(a, b vms.Camera) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// statusLocked is bridgeOffline while nothing is heard of the bridge; the camera may be well then.
func (r *registry) statusLocked(a actor) string {
	if r.awayLocked(a.Bridge) {
		return vms.StatusBridgeOffline
	}
	if a.Status == "" {
		return vms.StatusUnknown
	}
	return a.Status
}

// HasActor says whether an account has an actor. Cameras and bridges must have been registered. An id of another kind that
// nobody has used yet is anyone's: it becomes the account's with its first event.
func (r *registry) HasActor(_ context.Context, account string, a vms.Actor) (bool, error) {
	if a.Type == "account" {
		return a.ID == account, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.actors[a.ID]
	if !ok {
		return a.Type != vms.ActorCamera && a.Type != vms.ActorBridge, nil
	}
	return known.Account == account && known.Type == a.Type, nil
}

// owns says whether an actor is known to be an account's.
func (r *registry) owns(account string, a vms.Actor) bool {
	if a.Type == "account" {
		return a.ID == account
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.actors[a.ID]
	return ok && known.Account == account && known.Type == a.Type
}

// claim makes the actor of an event the account's, if nobody has it, and says whether the account has it now.
func (r *registry) claim(account string, a vms.Actor) (bool, error) {
	if has, err := r.HasActor(context.Background(), account, a); !has || err != nil {
		return false, err
	}
	if a.Type == "account" {
		return true, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.actors[a.ID]; ok {
		return known.Account == account && known.Type == a.Type, nil
	}
	next := actor{ID: a.ID, Type: a.Type, Account: account, Created: r.now().UTC()}
	if err := r.save(bridge{}, map[string]actor{a.ID: next}); err != nil {
		return false, err
	}
	r.actors[a.ID] = next
	return true, nil
}

// setStatus notes a status event, unless a later one was heard already.
func (r *registry) setStatus(id, status string, since time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.actors[id]
	if !ok || since.Before(a.StatusSince) || (a.Status == status && a.StatusSince.Equal(since)) {
		return nil
	}
	a.Status, a.StatusSince = status, since
	if err := r.save(bridge{}, map[string]actor{id: a}); err != nil {
		return err
	}
	r.actors[id] = a
	return nil
}

// camera finds a camera of an account and the bridge that has it.
func (r *registry) camera(account, id string) (actor, bridge, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, ok := r.actors[id]
	if !ok || a.Account != account || a.Type != vms.ActorCamera {
		return actor{}, bridge{}, false
	}
	return a, r.bridges[a.Bridge], true
}

// forget removes the bridges and actors of an account that was deleted, so that their ids are free again.
func (r *registry) forget(account string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var bridges, actors []string
	for id, b := range r.bridges {
		if b.Account == account {
			bridges = append(bridges, id)
		}
	}
	for id, a := range r.actors {
		if a.Account == account {
			actors = append(actors, id)
		}
	}
	err := r.db.Update(func(tx *bolt.Tx) error {
		var err error
		for _, id := range bridges {
			err = errors.Join(err, tx.Bucket(bucketBridges).Delete([]byte(id)))
		}
		for _, id := range actors {
			err = errors.Join(err, tx.Bucket(bucketActors).Delete([]byte(id)))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("forget account: %w", err)
	}
	for _, id := range bridges {
		delete(r.bridges, id)
	}
	for _, id := range actors {
		delete(r.actors, id)
	}
	return nil
}

// accounts are the ids of those that have anything here.
func (r *registry) accounts() map[string]bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := map[string]bool{}
	for _, b := range r.bridges {
		out[b.Account] = true
	}
	for _, a := range r.actors {
		out[a.Account] = true
	}
	return out
}

// name is what to call an actor.
func (r *registry) name(id string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n := r.actors[id].Name; n != "" {
		return n
	}
	return id
}

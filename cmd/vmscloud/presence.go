package main

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// watchBridges makes what looks which bridges are there.
func watchBridges(book *ledger, reg *registry.Registry, now func() time.Time, log *slog.Logger) (*presence.Watch,
	error) {
	w := presence.New(presence.Options{Book: book, Cameras: reg.Attached, Log: log, Now: now})
	var known []presence.Device
	for account, ids := range reg.Bridges() {
		for _, id := range ids {
			known = append(known, presence.BridgeOf(account, id))
		}
	}
	return w, w.Load(known)
}

// turnsOf are the names to take before events are stored: of each event, and of each whose status
// it tells. Others of a device share its name, so that all of them have their turns before a span
// of it is cut off.
func turnsOf(events []vms.Event) (own, shared []string) {
	alone := map[string]bool{}
	for _, ev := range events {
		if name := turnOf(ev.AccountID,
			vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); ev.Type == vms.TypeDeviceStatus && !alone[name] {
			alone[name] = true
			own = append(own, name)
		}
	}
	for _, ev := range events {
		if name := turnOf(ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); !alone[name] {
			shared = append(shared, name)
		}
		own = append(own, registry.Key(ev.AccountID, ev.ID))
	}
	return own, shared
}

func turnOf(account string, a vms.Actor) string { return account + "\x00" + a.Type + "\x00" + a.ID }

var _ presence.Book = (*ledger)(nil)

// Amend is for presence.Book.
func (l *ledger) Amend(account string, actors []vms.Actor,
	amend func(ongoing []vms.Event) (store []vms.Event, undo func())) error {
	names := make([]string, len(actors))
	for i, a := range actors {
		names[i] = turnOf(account, a)
	}
	defer l.turns.Take(names, nil)()
	kept := make([]vms.Actor, len(actors))
	for i, a := range actors {
		kept[i] = keyedActor(account, a)
	}
	ongoing, err := l.OngoingOf(kept...)
	if err != nil {
		return err
	}
	before := map[string]*vms.Event{}
	for i, ev := range ongoing {
		ev = bare(ev)
		ongoing[i], before[ev.ID] = ev, &ev
	}
	var changes []change
	store, undo := amend(ongoing)
	for _, ev := range store {
		changes = append(changes, change{ev, before[ev.ID]})
	}
	if err = l.store(changes); err != nil {
		undo()
	}
	return err
}

// Open is for presence.Book.
func (l *ledger) Open() ([]vms.Event, error) {
	open, err := l.Unfinished()
	list := make([]vms.Event, 0, len(open))
	for _, o := range open {
		list = append(list, bare(o.Event))
	}
	return list, err
}

// heard notes that the bridge of a camera has reported, by what came in at that time.
func (l *ledger) heard(ev vms.Event, at time.Time) {
	if l.presence == nil || ev.ActorType != vms.ActorCamera ||
		(ev.CreatorID != vms.CreatorMotion && ev.CreatorID != vms.CreatorHealth) {
		return
	}
	if _, b, ok := l.registry.Camera(ev.AccountID, ev.ActorID); ok {
		l.presence.Reported(presence.BridgeOf(ev.AccountID, b.ID), at)
	}
}

// door is where bridges come in: the registry takes down what they say, presence that they are
// there, and the marks how far they have reported.
type door struct {
	*registry.Registry
	marks
	presence *presence.Watch
	ids      *store.Store // its trail is told of devices that come, change and go
}

var (
	_ server.BridgeRegistry = door{}
	_ server.Leaver         = door{}
)

// Register is for server.BridgeRegistry.
func (d door) Register(ctx context.Context, p identity.Principal, reg vms.Registration) error {
	was, known := d.Bridge(p.AccountID, reg.ID)
	twins := d.Twins(p.AccountID, reg.ID)
	if err := d.Registry.Register(ctx, p, reg); err != nil {
		return err
	}
	if !twins && d.Twins(p.AccountID, reg.ID) {
		d.book.log.Warn("two bridges that run have one id and one token, and each takes the other's place",
			"bridge", reg.ID, "account", p.AccountID,
			"hint", "is one a copy of the other's disk? give it a bridge.id and a token of its own")
	}
	statuses := make(map[string]string, len(reg.Cameras))
	for _, c := range reg.Cameras {
		statuses[c.ID] = c.ConnectionStatus
	}
	// The token of its images is another one each time that a bridge starts.
	d.presence.Registered(presence.BridgeOf(p.AccountID, reg.ID), statuses, !known || was.Token != reg.ImageToken)
	if err := recordDevices(d.ids, d.Registry, p.AccountID, reg.ID); err != nil {
		d.book.log.Warn("that devices came or went could not be noted; it is tried again with the bridge's next word",
			"bridge", reg.ID, "error", err)
	}
	return nil
}

// changes are what the trail has of a device's change.
var changes = map[registry.Changes]model.AuditAction{registry.ChangeNew: model.AuditCreate,
	registry.ChangeRenamed: model.AuditUpdate,
	registry.ChangeGone:    model.AuditDelete}

// recordDevices notes in the trail, of which events are made, which devices came, changed and went:
// those of a bridge, or all if it is "". What was noted just before a crash may be noted twice.
func recordDevices(ids *store.Store, reg *registry.Registry, account, bridge string) error {
	list := reg.Untold(account, bridge)
	if len(list) == 0 {
		return nil
	}
	err := ids.Update(func(tx *store.Tx) error {
		for _, a := range list {
			for _, change := range a.Untold {
				e := model.AuditEntry{AccountID: a.Account, ByName: "vmscloud",
					Action: changes[registry.Changes(change)], Kind: a.Device(), Target: a.ID,
					Name: cmp.Or(a.Name, a.ID)}
				if e.Kind == "" || e.Action == "" {
					continue
				}
				if err := tx.Record(e); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return reg.Told(list)
}

// Leave is for server.Leaver.
func (d door) Leave(_ context.Context, p identity.Principal, bridge string) error {
	if err := d.SpeaksFor(p, bridge); err != nil {
		return err
	}
	d.presence.Left(presence.BridgeOf(p.AccountID, bridge))
	return nil
}

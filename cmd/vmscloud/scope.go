package main

import (
	"errors"
	"strings"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// Ids are an account's own, and the journal knows no accounts. So the ledger keeps an event and its
// actor under their ids with the account before them, as registry.Key has it, and takes that off
// again. Only the account itself is kept under its bare id.

// keyed is an event as the journal has it.
func keyed(ev vms.Event) vms.Event {
	if a := keyedActor(ev.ActorAccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); a.ID != ev.ActorID {
		ev.ID, ev.ActorID = registry.Key(ev.ActorAccountID, ev.ID), a.ID
	}
	return ev
}

// keyedActor is an account's actor as the journal has it.
func keyedActor(account string, a vms.Actor) vms.Actor {
	if a.Type != "account" {
		a.ID = registry.Key(account, a.ID)
	}
	return a
}

// bare is an event of the journal as others know it.
func bare(ev vms.Event) vms.Event {
	if _, id, ok := strings.Cut(ev.ActorID, "/"); ok {
		ev.ID, ev.ActorID = ev.ID[len(ev.ActorID)-len(id):], id
	}
	return ev
}

// Get is the event of an account under an id. The error wraps journal.ErrNotFound if there is none.
func (l *ledger) Get(account, id string) (vms.Event, error) {
	if !strings.Contains(id, "/") {
		for _, key := range []string{registry.Key(account, id), id} {
			ev, err := l.Journal.Get(key)
			if err == nil && ev.ActorAccountID == account {
				return bare(ev), nil
			} else if err != nil && !errors.Is(err, journal.ErrNotFound) {
				return vms.Event{}, err
			}
		}
	}
	return vms.Event{}, journal.ErrNotFound
}

// List answers a query whose actors say whose they are.
func (l *ledger) List(q vms.Query, c *vms.Cursor) (vms.Page, error) {
	actors := make([]vms.Actor, len(q.Actors))
	for i, a := range q.Actors {
		actors[i] = keyedActor(a.Account, a)
	}
	q.Actors = actors
	page, err := l.Journal.List(q, c)
	for i, ev := range page.Events {
		page.Events[i] = bare(ev)
	}
	return page, err
}

// accountOf is whose an actor of the journal is.
func accountOf(a vms.Actor) string {
	account, _, _ := strings.Cut(a.ID, "/")
	return account
}

package registry

import (
	"strings"

	"vmsbridge/uplink/vms"
)

// Changes of a camera or bridge, in their order, that are kept with it until somebody was told of
// them: so none is missed if the service ends in between.
type Changes string

// The changes, each a letter.
const (
	ChangeNew     Changes = "n" // it came, or came back
	ChangeRenamed Changes = "r" // its name is another one, or its bridge
	ChangeGone    Changes = "g" // its bridge has it no longer
)

// maxUntold bounds what is kept while nobody can be told.
const maxUntold = 16

// and is the changes with one more.
func (c Changes) and(one Changes) Changes {
	if len(c) >= maxUntold || one == ChangeRenamed && strings.HasSuffix(string(c), string(ChangeRenamed)) {
		return c
	}
	return c + one
}

// Untold are the devices of which there are changes to tell; bridge "" asks for those of all
// accounts, else for what a bridge of the account has or had last, and itself.
func (r *Registry) Untold(account, bridge string) (list []Actor) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if bridge == "" {
		for _, of := range r.accounts {
			for _, a := range of.actors {
				list = a.untold(list)
			}
		}
		return list
	}
	mine := r.look(account)
	list = mine.actors[bridge].untold(list)
	for id := range mine.of[bridge] {
		list = mine.actors[id].untold(list)
	}
	return list
}

// untold adds the actor, by the name that people see, if there is something to tell of it.
func (a Actor) untold(list []Actor) []Actor {
	if a.Untold == "" {
		return list
	}
	a.Name = a.shownName()
	return append(list, a)
}

// Told takes away changes that were told, of the devices as Untold gave them.
func (r *Registry) Told(list []Actor) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	var changed []Actor
	for _, told := range list {
		a, ok := r.look(told.Account).actors[told.ID]
		if rest, is := strings.CutPrefix(string(a.Untold), string(told.Untold)); ok && is {
			a.Untold = Changes(rest)
			changed = append(changed, a)
		}
	}
	return r.keep(Bridge{}, changed...)
}

// Device says what kind of device an actor is; "" for none.
func (a Actor) Device() string {
	if a.Type == vms.ActorCamera || a.Type == vms.ActorBridge {
		return a.Type
	}
	return ""
}

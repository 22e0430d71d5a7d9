package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// TestDamageIsToldInAnyOrder: some of it before there is an outlet.
func TestDamageIsToldInAnyOrder(t *testing.T) {
	c := Operations{Bridge: configs.Bridge{ID: "b", Account: "acc"}}
	out := &heard{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.Journal(journal.Damage{Time: at, Cause: "first"})
	c.Tell(out)
	c.Journal(journal.Damage{Time: at.Add(time.Second), Cause: "second"})
	c.Stills(stills.Damage{Time: at.Add(time.Second), Stills: 3, Segments: 1})
	require.Len(t, out.events, 3)
	require.Equal(t, at.Add(time.Second), out.events[1].StartTimestamp.Time)
	require.NotEqual(t, out.events[1].ID, out.events[2].ID, "of the same moment, and yet two")
}

// heard takes events.
type heard struct{ events []vms.Event }

func (h *heard) Put(ev vms.Event) { h.events = append(h.events, ev) }

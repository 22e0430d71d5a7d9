package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// Pages of two accounts' cameras of one id are in one order and miss nothing; how events are kept
// is nobody's way in.
func TestPagesOverTwoAccounts(t *testing.T) {
	l := emptyBook(t)
	var actors []vms.Actor
	for _, account := range []string{"north", "south"} {
		l.fill(t, account, 0, 30)
		actors = append(actors, vms.Actor{Type: "camera", ID: "cam", Account: account})
	}
	q := vms.Query{Actors: actors, PageSize: 7}
	var at *vms.Cursor
	seen, last := map[string]bool{}, time.Now().AddDate(100, 0, 0)
	for first := true; first || at != nil; first = false {
		page, err := l.List(q, at)
		require.NoError(t, err)
		require.Equal(t, 60, page.Total)
		for _, ev := range page.Events {
			require.Equal(t, []string{"cam", ev.NaturalID()}, []string{ev.ActorID, ev.ID})
			require.False(t, ev.StartTimestamp.After(last))
			last, seen[ev.AccountID+" "+ev.ID] = ev.StartTimestamp.Time, true
			got, err := l.Get(ev.AccountID, ev.ID)
			require.NoError(t, err)
			require.Equal(t, ev, got)
		}
		at = page.Next
	}
	require.Len(t, seen, 60)
	id := motion("", "cam", 1).ID
	for _, wrong := range []string{"south/" + id, "north/" + id, ""} {
		_, err := l.Get("north", wrong)
		require.ErrorIs(t, err, journal.ErrNotFound, wrong)
	}
}

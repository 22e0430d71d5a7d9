package vms

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIDsOfAMoment(t *testing.T) {
	ev := Event{Type: TypeMotion, ActorID: "gate", StartTimestamp: At(time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC))}
	natural, other := ev.NaturalID(), ev.SuffixedID("a", "b")
	require.Equal(t, other, ev.SuffixedID("a", "b"))
	require.NotEqual(t, other, ev.SuffixedID("ab"))
	require.NotEqual(t, other, ev.SuffixedID("b", "a"))
	require.False(t, strings.ContainsAny(other, "/?#% "), other)
	for id, want := range map[string]bool{natural: true, other: true, natural + "-0a": true,
		"": false, natural + "-": false, natural + "x": false, natural + "-A": false, natural + "-a/b": false,
		natural + "-" + strings.Repeat("a", 40): false,
		"yard" + natural[4:]:                    false, "x" + natural: false} {
		require.Equal(t, want, ev.FitsID(id), id)
	}
	ev.ID = other
	moved := ev.Retimed(func(at time.Time) time.Time { return at.Add(time.Hour) })
	require.Equal(t, moved.NaturalID()+strings.TrimPrefix(other, natural), moved.ID)
}

package feed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// A follower who does not keep up is left, and holds up neither the store nor the others.
func TestASlowFollowerIsLeft(t *testing.T) {
	f := New()
	slow, stop := f.Follow()
	defer stop()
	quick, leave := f.Follow()
	for range room + 1 {
		f.Publish(vms.Event{ID: "x"})
		<-quick
	}
	n := 0
	for range slow {
		n++
	}
	require.Equal(t, room, n)
	leave()
	_, open := <-quick
	require.False(t, open)
	leave()
	f.Publish(vms.Event{})
	f.Close()
	after, _ := f.Follow()
	_, open = <-after
	require.False(t, open)
}

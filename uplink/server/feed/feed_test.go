package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/uplink/vms"
)

// Followers of every pace get what is published, in order and once, unless it is no longer kept;
// whose connection breaks goes on where it was. The feed keeps a bounded number whatever they do.
func TestFollowers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 100
		f := sized(room)
		var all []string
		publish := func(n int) {
			for range n {
				all = append(all, fmt.Sprint(len(all)))
				f.Publish(vms.Event{ID: all[len(all)-1]})
			}
		}
		publish(rapid.IntRange(0, room+10).Draw(t, "before"))
		w, at, last, lastAt := f.Follow(), len(all), "", 0
		over, cancel := context.WithCancel(context.Background())
		cancel()
		t.Repeat(map[string]func(*rapid.T){
			"publish":      func(t *rapid.T) { publish(rapid.IntRange(1, 30).Draw(t, "n")) },
			"publish much": func(t *rapid.T) { publish(rapid.IntRange(room-10, room+100).Draw(t, "n")) },
			"read": func(t *rapid.T) {
				told, err := w.Next(over)
				switch oldest := max(0, len(all)-room); {
				case at < oldest:
					require.ErrorIs(t, err, ErrBehind)
					at = oldest
				case at == len(all):
					require.ErrorIs(t, err, context.Canceled)
				default:
					require.NoError(t, err)
					require.Len(t, told, min(atOnce, len(all)-at))
					for _, e := range told {
						require.Equal(t, all[at], e.Event.ID)
						require.NotEqual(t, last, e.ID)
						at, last, lastAt = at+1, e.ID, at
					}
				}
			},
			"break": func(t *rapid.T) {
				if last == "" {
					t.Skip("no message was read yet that a stream could go on behind; rapid tries another step")
				}
				w, at = f.FollowAfter(last), lastAt+1
			},
			"": func(t *rapid.T) { require.LessOrEqual(t, len(f.kept), room) },
		})
	})
}

func TestIDsOfOthers(t *testing.T) {
	f, other := New(), New()
	first := other.Follow()
	for range 3 {
		f.Publish(vms.Event{ID: "old"})
		other.Publish(vms.Event{})
	}
	told, err := first.Next(t.Context())
	require.NoError(t, err)
	for _, id := range []string{"", "x", "-", "-1", f.name, f.name + "-", f.name + "-3", f.name + "-99", f.name + "--1",
		f.name + "-18446744073709551615", told[0].ID,
		"cam-1-2026-11-21T07:00:00.000+00:00-vms.motionDetectionEvent.v1"} {
		w := f.FollowAfter(id)
		require.Equal(t, f.end, w.at, id)
	}
}

// Who waits is woken by an event and by the end.
func TestWaiting(t *testing.T) {
	f := New()
	w := f.Follow()
	got := make(chan error, 2)
	go func() {
		for range 2 {
			_, err := w.Next(context.Background())
			got <- err
		}
	}()
	heard := func() error {
		select {
		case err := <-got:
			return err
		case <-time.After(time.Minute):
			t.Error("nothing woke it")
			return nil
		}
	}
	f.Publish(vms.Event{})
	require.NoError(t, heard())
	f.Close()
	require.ErrorIs(t, heard(), ErrClosed)
	f.Publish(vms.Event{})
	f.Close()
	_, err := f.Follow().Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}

// The message of an event is made once for all followers, and kept of the newest only.
func TestMessagesAreMadeOnce(t *testing.T) {
	f := New()
	one, two := f.Follow(), f.Follow()
	read := func(w *Follower) *Told {
		told, err := w.Next(t.Context())
		require.NoError(t, err)
		return told[0]
	}
	f.Publish(vms.Event{ID: "x"})
	a, b := read(one), read(two)
	first, err := a.Message("https://vms.example")
	require.NoError(t, err)
	second, err := b.Message("https://vms.example")
	require.NoError(t, err)
	require.Contains(t, string(first), `"id":"x"`)
	require.Same(t, &first[0], &second[0])
	for range 5 {
		f.Publish(vms.Event{ID: strings.Repeat("y", mostPacked/4)})
	}
	for more, err := two.Next(t.Context()); len(more) > 0; more, err = nil, nil {
		require.NoError(t, err)
		for _, m := range more {
			_, err := m.Message("https://vms.example")
			require.NoError(t, err)
		}
	}
	require.LessOrEqual(t, f.packedBytes, mostPacked)
	require.Len(t, f.packed, 3)
	require.Nil(t, a.message, "nobody pays for what is long past")
	third, err := a.Message("https://vms.example")
	require.NoError(t, err)
	require.Equal(t, first, third)
	require.Nil(t, a.message)
}

// Who comes back to a feed of a later run goes on behind the last event that it has, is told of
// none twice, and learns if some are gone.
func TestALastingFeedAfterARestart(t *testing.T) {
	ids := func(w *Follower) (list []string, behind bool) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for {
			told, err := w.Next(over)
			if errors.Is(err, ErrBehind) {
				require.Empty(t, list, "it is told so at first")
				behind = true
				continue
			}
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				return list, behind
			}
			for _, e := range told {
				list = append(list, e.Event.ID)
			}
		}
	}
	first := Lasting("book", 0)
	w := first.Follow()
	for place := uint64(10); place < 20; place += 2 { // places have gaps
		first.PublishAt(place, vms.Event{ID: fmt.Sprint(place)})
	}
	told, err := w.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, told, 5)

	later := Lasting("book", 12) // what was at 10 and 12 is not kept any more
	for _, place := range []uint64{16, 18, 21} {
		later.PublishAt(place, vms.Event{ID: fmt.Sprint(place)}) // 14 was put again, at 21
	}
	for _, c := range []struct {
		id     string
		want   []string
		behind bool
	}{
		{told[0].ID, []string{"16", "18", "21"}, true},
		{told[1].ID, []string{"16", "18", "21"}, false},
		{told[2].ID, []string{"16", "18", "21"}, false},
		{told[3].ID, []string{"18", "21"}, false},
		{told[4].ID, []string{"21"}, false},
		{"book-21", nil, false},
		{"book-99", nil, false},
		{"other-10", nil, false},
		{"", nil, false},
	} {
		list, behind := ids(later.FollowAfter(c.id))
		require.Equal(t, c.want, list, c.id)
		require.Equal(t, c.behind, behind, c.id)
	}
	later.Publish(vms.Event{ID: "next"})
	list, _ := ids(later.FollowAfter("book-21"))
	require.Equal(t, []string{"next"}, list)
}

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// An account whose events take all that they may gets no more, until old ones went; spans end all
// the same, and others go on.
func TestAccountsHaveRoomOfTheirOwn(t *testing.T) {
	l := emptyBook(t)
	l.fill(t, "north", 0, 30)
	l.fill(t, "south", 0, 1)
	for _, account := range []string{"a", "b"} {
		require.NoError(t,
			l.registry.Register(t.Context(), principal(account),
				vms.Registration{ID: "bridge", Cameras: []vms.RegisteredCamera{{ID: "gate"}}}))
	}
	require.NoError(t, l.weigh(t.Context()))
	counted := func() map[string]int64 {
		t.Helper()
		told := l.usage.bytes
		require.NoError(t, l.weigh(t.Context()))
		return told
	}
	require.Positive(t, l.usage.bytes["north"])
	require.Greater(t, l.usage.bytes["north"], 20*l.usage.bytes["south"],
		"30 events against one")
	require.Zero(t, l.usage.bytes[""])
	put := func(ev vms.Event) error {
		ev.Owner = "bridge:bridge"
		return l.Put(ev, false)
	}
	l.usage.limit = 3000
	var refusal error
	n := 0
	for ; n < 100 && refusal == nil; n++ {
		refusal = put(motion("a", "gate", n))
	}
	var e *vms.Error
	require.ErrorAs(t, refusal, &e)
	require.Equal(t, []any{403, vms.ReasonLimit}, []any{e.Code, e.Reason()})
	require.Contains(t, e.Message, "--account-events")
	_, err := l.Get("a", motion("a", "gate", n-1).ID)
	require.ErrorIs(t, err, journal.ErrNotFound)
	require.Equal(t, counted(), l.usage.bytes, "what was added up is what is there")

	for i := range n - 1 {
		ended := motion("a", "gate", i)
		ended.EndTimestamp = vms.Ptr(ended.StartTimestamp.Add(time.Second))
		require.NoError(t, put(ended), "what goes on ends")
	}
	require.Equal(t, counted(), l.usage.bytes)
	require.NoError(t, put(motion("b", "gate", 1)), "another account has room")
	require.NoError(t, l.Put(motion("a", "gate", 500), false), "the service's own have")
	require.Error(t, put(motion("a", "gate", 501)))

	// Old ones go, and that is noticed.
	gone, err := l.Prune(journal.Retention{Before: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	require.Positive(t, gone)
	require.Error(t, put(motion("a", "gate", 501)))
	require.NoError(t, l.weigh(t.Context()))
	require.NoError(t, put(motion("a", "gate", 501)))
	require.NoError(t, l.forget("a"))
	require.Zero(t, l.usage.bytes["a"])
	l.usage.alone = func() bool { return true }
	for i := range 50 {
		require.NoError(t, put(motion("b", "gate", i)), "one that is alone has all there is")
	}
}

// The record of an account says how many cameras it may have; a bridge that names more is told, and
// the others are not affected.
func TestCameraQuantity(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "--account-bridges", "2")
	code, out, _ := c.as("root@example.org", "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "camera_quantity": 2})
	require.Equal(t, 200, code, "%v", out)
	b := clientOf(t, c.p.base, c.bridges["a"])
	reg := registration("a")
	reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: "two", Name: "Two"},
		vms.RegisteredCamera{ID: "three", Name: "Three"})
	require.NoError(t, b.Register(t.Context(), reg))
	require.Equal(t, []string{"three: the account may have 2 cameras by its camera_quantity, which a superuser sets"},
		b.Said().Refused)
	require.NoError(t, b.Report(t.Context(), motion(c.accounts["a"], "two", 1)))
	var no *vms.ForbiddenError
	require.ErrorAs(t, b.Report(t.Context(), motion(c.accounts["a"], "three", 1)), &no)
	require.Contains(t, no.Message, "camera_quantity")
	for _, id := range []string{"second", "third"} {
		err := b.Register(t.Context(), vms.Registration{ID: id})
		require.Equal(t, id == "third", err != nil, "%v", err)
		if err != nil {
			require.ErrorContains(t, err, "--account-bridges")
		}
	}
	stranger := must(t, "token", "create", "--data", c.data, "--kind", "bridge", "--account", c.accounts["a"],
		"--quiet")
	for token, want := range map[string]int{c.bridges["a"]: 200, stranger: 404} {
		code, body := c.api(token, "GET", "/api/v3.0/cameras/cam-a", "")
		require.Equal(t, want, code, "a bridge sees its own cameras alone: %s", body)
	}
	other := clientOf(t, c.p.base, c.bridges["b"])
	reg.ID, reg.Cameras[0].ID = "bridge-b", "cam-b"
	require.NoError(t, other.Register(t.Context(), reg))
	require.Empty(t, other.Said().Refused)

	code, out, _ = c.as("root@example.org", "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "camera_quantity": 3})
	require.Equal(t, 200, code, "%v", out)
	reg.ID, reg.Cameras[0].ID = "bridge-a", "cam-a"
	require.NoError(t, b.Register(t.Context(), reg))
	require.Empty(t, b.Said().Refused)
	require.NoError(t, b.Report(t.Context(), motion(c.accounts["a"], "three", 1)))
}

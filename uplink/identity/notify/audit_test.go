package notify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// book keeps events by id, as a journal does.
type book struct {
	mu      sync.Mutex // guards what follows
	events  map[string]vms.Event
	calls   int
	puts    int
	fail    error
	refused string // the actor of whom nothing is taken
}

func (b *book) PutAll(events []vms.Event, report bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.fail != nil {
		return b.fail
	}
	for _, ev := range events {
		if list := vms.Check(ev); list != nil || report {
			return errors.New("not an event of the catalogue: " + list[0].Text)
		}
		if ev.ActorID == b.refused {
			return vms.NotFound("users", "", ev.ActorID)
		}
	}
	for _, ev := range events {
		b.puts++
		b.events[ev.ID] = ev
	}
	return nil
}

func (b *book) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.events)
}

type auditFixture struct {
	t     *testing.T
	store *store.Store
	book  *book
	now   time.Time
	path  string
}

func newAuditFixture(t *testing.T) *auditFixture {
	b := &auditFixture{t: t, book: &book{events: map[string]vms.Event{}},
		now: time.Date(2026, 11, 16, 17, 0, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "identity.db")}
	b.open()
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

func (b *auditFixture) open() {
	var err error
	b.store, err = store.Open(b.path, store.Options{Now: func() time.Time { return b.now }, Volatile: true})
	require.NoError(b.t, err)
}

func (b *auditFixture) record(list ...model.AuditEntry) {
	b.t.Helper()
	require.NoError(b.t, b.store.Update(func(tx *store.Tx) error {
		for _, e := range list {
			if err := tx.Record(e); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (b *auditFixture) exporter() *AuditExporter {
	return NewAuditExporter(AuditOptions{Store: b.store, Events: b.book, Keep: 24 * time.Hour, Every: time.Millisecond})
}

func entry(kind string, action model.AuditAction, target string) model.AuditEntry {
	return model.AuditEntry{AccountID: "acc", By: "root", Action: action, Kind: kind, Target: target,
		Name: "Name of " + target}
}

func TestEveryChangeMakesItsEvent(t *testing.T) {
	for _, c := range []struct {
		kind   string
		action model.AuditAction
		want   string
	}{
		{model.KindAccount, model.AuditCreate, "vms.accountCreationEvent.v1"},
		{model.KindAccount, model.AuditUpdate, "vms.accountUpdateEvent.v1"},
		{model.KindAccount, model.AuditActivate, "vms.accountUpdateEvent.v1"},
		{model.KindAccount, model.AuditDelete, "vms.accountDeletionEvent.v1"},
		{model.KindUser, model.AuditCreate, "vms.userCreationEvent.v1"},
		{model.KindUser, model.AuditUpdate, "vms.userUpdateEvent.v1"},
		{model.KindUser, model.AuditPassword, "vms.userUpdateEvent.v1"},
		{model.KindUser, model.AuditLock, "vms.userUpdateEvent.v1"},
		{model.KindUser, model.AuditUnlock, "vms.userUpdateEvent.v1"},
		{model.KindUser, model.AuditDelete, "vms.userDeletionEvent.v1"},
		{model.KindUser, model.AuditSignIn, ""}, {model.KindUser, model.AuditSignOut, ""},
		{model.KindUser, model.AuditRefuse, ""},
		{model.KindAccount, model.AuditSwitch, ""}, {model.KindToken, model.AuditCreate, ""},
	} {
		t.Run(c.kind+" "+string(c.action), func(t *testing.T) {
			b := newAuditFixture(t)
			b.record(entry(c.kind, c.action, "x1"))
			require.NoError(t, b.exporter().Step(t.Context()))
			if c.want == "" {
				require.Zero(t, b.book.len())
				return
			}
			require.Equal(t, 1, b.book.len())
			for id, ev := range b.book.events {
				require.Equal(t, c.want, ev.Type)
				require.Equal(t, ev.NaturalID(), id)
				require.Equal(t, "acc", ev.AccountID)
				require.Equal(t, c.kind, ev.ActorType)
				require.Equal(t, map[string]string{model.KindAccount: "acc", model.KindUser: "x1"}[c.kind], ev.ActorID)
				require.Equal(t, vms.At(b.now), ev.StartTimestamp)
				var d struct{ ResourceID, ResourceName string }
				require.NoError(t, ev.Data[0].Into(&d))
				require.Equal(t, struct{ ResourceID, ResourceName string }{"x1", "Name of x1"}, d)
			}
		})
	}
}

// What went with its account is the account's parent's to tell of, and what is kept elsewhere goes
// before the cursor passes.
func TestADeletedAccountIsForgotten(t *testing.T) {
	b := newAuditFixture(t)
	with := func(kind, target string) model.AuditEntry {
		e := entry(kind, model.AuditDelete, target)
		e.Gone = kind != model.KindAccount
		return e
	}
	b.record(with(model.KindBridge, "b1"), with(model.KindCamera, "c1"), with(model.KindUser, "u1"),
		with(model.KindCamera, "c2"), with(model.KindAccount, "sub"))
	var forgot []string
	fail := errors.New("the disk is full")
	p := NewAuditExporter(AuditOptions{Store: b.store, Events: b.book, Forget: func(account string) error {
		forgot = append(forgot, account)
		return fail
	}})
	require.ErrorIs(t, p.Step(t.Context()), fail)
	fail = nil
	require.NoError(t, p.Step(t.Context()))
	require.NoError(t, p.Step(t.Context()))
	require.Equal(t, []string{"sub", "sub"}, forgot)
	types := map[string]int{}
	for _, ev := range b.book.events {
		require.Equal(t, []string{model.KindAccount, "acc", "acc"}, []string{ev.ActorType, ev.ActorID, ev.AccountID})
		types[ev.Type]++
	}
	require.Equal(t, map[string]int{"vms.deviceDeletionEvent.v1": 3, "vms.userDeletionEvent.v1": 1,
		"vms.accountDeletionEvent.v1": 1}, types)
}

// What was carried is not carried again, also by the next process, and what failed is.
func TestTheCursorLasts(t *testing.T) {
	b := newAuditFixture(t)
	for range 3 {
		b.record(entry(model.KindUser, model.AuditUpdate, "u1"), entry(model.KindUser, model.AuditUpdate, "u2"),
			entry(model.KindUser, model.AuditSignIn, "u1"))
		b.now = b.now.Add(time.Second)
	}
	b.book.fail = errors.New("disk full")
	require.ErrorContains(t, b.exporter().Step(t.Context()), "disk full")
	require.Zero(t, b.book.len())
	b.book.fail = nil
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 6, b.book.len())
	require.NoError(t, b.store.Close())
	b.open()
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 6, b.book.puts)
	// One that will never do is left out and does not hold up the others.
	b.record(entry(model.KindUser, model.AuditUpdate, "u3"))
	b.book.fail = vms.NotFound("users", "", "u3")
	require.NoError(t, b.exporter().Step(t.Context()))
	b.book.fail = nil
	b.record(entry(model.KindUser, model.AuditUpdate, "u4"))
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 7, b.book.len())
}

// Thousands of changes are kept in few transactions, and one of them that will never do is left
// out.
func TestChangesAreKeptTogether(t *testing.T) {
	b := newAuditFixture(t)
	var list []model.AuditEntry
	for i := range 3 * auditBatch {
		list = append(list, entry(model.KindUser, model.AuditCreate, fmt.Sprint("u", i)))
	}
	b.record(list...)
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, []int{3 * auditBatch, 3}, []int{b.book.len(), b.book.calls})
	b.book.refused = "u7"
	b.now = b.now.Add(time.Second)
	b.record(list...)
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 6*auditBatch-1, b.book.len())
}

func TestManyWithinAMillisecond(t *testing.T) {
	b := newAuditFixture(t)
	for range 5 {
		b.record(entry(model.KindAccount, model.AuditCreate, "sub"))
	}
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 5, b.book.len())
}

func TestPruneKeepsWhatIsYoungOrNotCarried(t *testing.T) {
	b := newAuditFixture(t)
	count := func() int {
		var list []model.AuditEntry
		require.NoError(t, b.store.View(func(tx *store.Tx) (err error) {
			list,
				err = tx.AuditTrailAfter(0, 10000)
			return err
		}))
		return len(list)
	}
	for range 3 * auditBatch {
		b.record(entry(model.KindUser, model.AuditSignIn, "u1"))
	}
	b.now = b.now.Add(25 * time.Hour)
	b.record(entry(model.KindUser, model.AuditSignIn, "u1"))
	require.NoError(t, b.exporter().Prune())
	require.Equal(t, 3*auditBatch+1, count(), "nothing was carried")
	require.NoError(t, b.exporter().Step(t.Context()))
	require.NoError(t, b.exporter().Prune())
	require.Equal(t, 1, count())
	require.NoError(t, NewAuditExporter(AuditOptions{Store: b.store, Events: b.book}).Prune())
	require.Equal(t, 1, count())
	// Numbers go on where they were, so that the cursor stays right.
	b.record(entry(model.KindUser, model.AuditUpdate, "u1"))
	require.NoError(t, b.exporter().Step(t.Context()))
	require.Equal(t, 1, b.book.len())
}

func TestRun(t *testing.T) {
	b := newAuditFixture(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // the file has a goroutine, too
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	p := b.exporter()
	go func() { defer close(done); _ = p.Run(ctx) }()
	b.record(entry(model.KindUser, model.AuditCreate, "u1"))
	require.Eventually(t, func() bool { return b.book.len() == 1 }, time.Minute, time.Millisecond)
	cancel()
	<-done
}

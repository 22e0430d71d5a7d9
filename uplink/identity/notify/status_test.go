package notify

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// mailbox keeps what was sent.
type mailbox struct{ sent []Message }

func (m *mailbox) Send(l Message) error { m.sent = append(m.sent, l); return nil }
func (m *mailbox) Can(Channel) bool     { return true }

// take is to whom messages went since the last call.
func (m *mailbox) take() (to []string) {
	to = []string{}
	for _, l := range m.sent {
		to = append(to, l.To)
	}
	m.sent = nil
	return to
}

// statusFixture is an account with one user, who is told of everything.
type statusFixture struct {
	t     *testing.T
	store *store.Store
	box   *mailbox
	n     *StatusNotifier
	now   time.Time
}

func newStatusFixture(t *testing.T) *statusFixture {
	b := &statusFixture{t: t, box: &mailbox{}, now: time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)} // a Monday
	var err error
	b.store, err = store.Open(filepath.Join(t.TempDir(), "identity.db"),
		store.Options{Now: func() time.Time { return b.now }, Volatile: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.store.Close() })
	a := model.NewAccount()
	a.ID, a.Name, a.Status = "acc", "Shop", model.Texts{model.StatusActive}
	_, err = b.store.CreateAccount(a)
	require.NoError(t, err)
	b.user("anna@x.org", nil)
	b.n = NewStatusNotifier(StatusOptions{Store: b.store, Post: b.box,
		Picture: func(_ context.Context, account, camera string, before time.Time) []byte {
			return []byte(account + " " + camera + " " + before.Format(time.TimeOnly))
		}})
	return b
}

func (b *statusFixture) user(email string, f func(*model.User)) {
	u := model.NewUser()
	u.OwnerAccountID, u.Email, u.IsActive, u.IsPending, u.Timezone = "acc", email, true, false, "UTC"
	u.IsNotifyEnable, u.JSON, u.NotifyPeriod = true, `{"vms":{"notify_levels":[1,3]}}`, model.Texts{"0-0800-1700"}
	u.CameraAccess = model.Lists{{"cam", "R"}}
	if f != nil {
		f(&u)
	}
	_, err := b.store.CreateUser(u)
	require.NoError(b.t, err)
}

func (b *statusFixture) edit(u func(*model.User), a func(*model.Account)) {
	require.NoError(b.t, b.store.Update(func(tx *store.Tx) error {
		who, err := tx.UserByEmail("anna@x.org")
		require.NoError(b.t, err)
		home, err := tx.Account("acc")
		require.NoError(b.t, err)
		if u != nil {
			u(&who)
		}
		if a != nil {
			a(&home)
		}
		require.NoError(b.t, tx.PutAccount(home))
		return tx.PutUser(who)
	}))
}

func (b *statusFixture) tell(status string) {
	b.t.Helper()
	require.NoError(b.t, b.n.Tell(b.t.Context(),
		StatusChange{Account: "acc", Camera: "cam", Name: "Gate", Status: status, At: b.now}))
	b.now = b.now.Add(time.Second)
}

var anna = []string{"anna@x.org"}

func TestWhoIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		user    func(*model.User)
		account func(*model.Account)
		want    bool
	}{
		"who asks for it":          {nil, nil, true},
		"without is_notify_enable": {func(u *model.User) { u.IsNotifyEnable = false }, nil, false},
		"without the level": {func(u *model.User) { u.JSON = `{"vms":{"notify_levels":[1,2]}}` },
			nil, false},
		"settings of another form": {func(u *model.User) { u.JSON = `[3]` }, nil, false},
		"an empty period is none":  {func(u *model.User) { u.NotifyPeriod = nil }, nil, false},
		"outside the period": {func(u *model.User) {
			u.NotifyPeriod = model.Texts{"0-1300-1400",
				"1-0800-1700"}
		}, nil, false},
		"without the camera": {func(u *model.User) {
			u.CameraAccess = model.Lists{{"cam", "W"},
				{"cam-2", "R"}}
		}, nil, false},
		"an account superuser sees all cameras": {func(u *model.User) {
			u.CameraAccess, u.IsAccountSuperuser = nil,
				true
		}, nil, true},
		"locked": {func(u *model.User) { u.Lock(u.Inner.Created, "") }, nil, false},
		"pending": {func(u *model.User) { u.IsActive, u.IsPending = false, true }, nil,
			false},
		"disabled for the account": {nil, func(a *model.Account) { a.IsNotificationsOff = true }, false},
		"suspended": {nil,
			func(a *model.Account) { a.Status = model.Texts{model.StatusSuspended} }, false},
		"a rule by mail": {func(
			u *model.User) {
			u.NotifyRule = model.Texts{"System-email-5"}
		}, nil, true},
		"a rule without mail": {func(u *model.User) { u.NotifyRule = model.Texts{"system-gui-0"} },
			nil, false},
		"a rule of an alert": {func(
			u *model.User) {
			u.NotifyRule = model.Texts{"front-door-gui-5"}
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newStatusFixture(t)
			b.edit(c.user, c.account)
			b.tell(vms.StatusDeviceOffline)
			if want := b.box.take(); c.want {
				require.Equal(t, anna, want)
			} else {
				require.Empty(t, want)
			}
		})
	}
}

func TestOnlyChangesAreTold(t *testing.T) {
	b := newStatusFixture(t)
	b.tell(vms.StatusOnline)
	require.Empty(t, b.box.take(), "nothing else was known of it")
	b.tell(vms.StatusDeviceOffline)
	require.Equal(t, anna, b.box.take())
	b.tell(vms.StatusDeviceOffline)
	require.Empty(t, b.box.take(), "no change")
	again := b.now
	b.tell(vms.StatusOnline)
	require.Equal(t, anna, b.box.take())
	require.NoError(t, b.n.Tell(t.Context(), StatusChange{Account: "acc", Camera: "cam",
		Status: vms.StatusDeviceOffline, At: again}))
	require.Empty(t, b.box.take(), "the end of a span that was told when it began")
	require.NoError(t, b.n.Tell(t.Context(), StatusChange{Account: "acc", Camera: "cam-2",
		Status: vms.StatusDeviceOffline, At: b.now.Add(-2 * time.Hour)}))
	require.NoError(t, b.n.Tell(t.Context(), StatusChange{Account: "none", Camera: "cam-3",
		Status: vms.StatusDeviceOffline, At: b.now}))
	require.Empty(t, b.box.take(), "old, and of nobody")
}

func TestADelayIsKept(t *testing.T) {
	b := newStatusFixture(t)
	b.edit(func(u *model.User) { u.NotifyRule = model.Texts{"system-email-10"} }, nil)
	b.tell(vms.StatusDeviceOffline)
	require.Equal(t, anna, b.box.take())
	b.tell(vms.StatusOnline)
	require.Empty(t, b.box.take())
	b.now = b.now.Add(10 * time.Minute)
	b.tell(vms.StatusDeviceOffline)
	require.Equal(t, anna, b.box.take())
}

// The clock was two hours ahead and is set right: what happens then is told at once, not when those
// have passed.
func TestTheClockIsSetBack(t *testing.T) {
	b := newStatusFixture(t)
	b.edit(func(u *model.User) { u.NotifyRule = model.Texts{"system-email-10"} }, nil)
	bridge := func(status string, at time.Time) {
		t.Helper()
		require.NoError(t, b.n.Tell(t.Context(), StatusChange{Account: "acc", Bridge: "b1", Name: "Box", Status: status,
			At: at, Cameras: map[string]string{"cam": "Gate"}}))
	}
	b.now = b.now.Add(2 * time.Hour)
	ahead := b.now
	bridge(vms.StatusBridgeOffline, ahead)
	require.Equal(t, anna, b.box.take())
	b.now = b.now.Add(-2*time.Hour + time.Minute)
	bridge(vms.StatusBridgeOffline, ahead) // its end
	require.Empty(t, b.box.take())
	bridge(vms.StatusOnline, b.now)
	require.Equal(t, anna, b.box.take())
	b.now = b.now.Add(11 * time.Minute)
	bridge(vms.StatusBridgeOffline, b.now)
	require.Equal(t, anna, b.box.take())
	b.now = b.now.Add(11 * time.Minute)
	bridge(vms.StatusOnline, b.now.Add(-21*time.Minute)) // late on its way
	require.Empty(t, b.box.take())
}

// A picture goes along where the account wants it, to those who may see previews.
func TestPictures(t *testing.T) {
	b := newStatusFixture(t)
	b.user("blind@x.org", func(u *model.User) {
		u.IsLiveVideo, u.IsRecordedVideo, u.IsExportVideo, u.IsPreviewVideo = false, false, false, false
	})
	b.tell(vms.StatusDeviceOffline)
	require.Len(t, b.box.sent, 2)
	for _, l := range b.box.sent {
		require.Nil(t, l.Picture)
		require.Equal(t, []string{"Gate", vms.StatusDeviceOffline, "2026-11-16 12:00:00 UTC", "Shop"},
			[]string{l.Camera, l.Status, l.When, l.Account})
	}
	b.box.sent = nil
	b.edit(nil, func(a *model.Account) { a.IsNotificationImages = true })
	b.tell(vms.StatusOnline)
	require.Len(t, b.box.sent, 2)
	for _, l := range b.box.sent {
		require.Equal(t, map[string]string{"anna@x.org": "acc cam 12:00:01", "blind@x.org": ""}[l.To],
			string(l.Picture))
	}
}

// A bridge that is away is one message to each who may see any of its cameras, with those that he
// may see; and one when it is back. It is told however late the service finds out, and not again by
// a program that starts anew.
func TestABridgeIsOneLetter(t *testing.T) {
	b := newStatusFixture(t)
	b.user("boss@x.org", func(u *model.User) { u.CameraAccess, u.IsAccountSuperuser = nil, true })
	b.user("other@x.org", func(u *model.User) { u.CameraAccess = model.Lists{{"cam-9", "R"}} })
	c := StatusChange{Account: "acc", Bridge: "b1", Name: "Box", Status: vms.StatusBridgeOffline,
		At: b.now.Add(-3 * time.Hour), Cameras: map[string]string{"cam": "Gate", "cam-2": "Yard"}}
	require.NoError(t, b.n.Tell(t.Context(), c))
	require.NoError(t, b.n.Tell(t.Context(), c))
	got := map[string][]string{}
	for _, l := range b.box.sent {
		require.Equal(t, BridgeStatus, l.Kind)
		require.Equal(t, "Box", l.Bridge)
		require.Empty(t, l.Picture)
		got[l.To] = l.Cameras
	}
	require.Equal(t, map[string][]string{"anna@x.org": {"Gate"}, "boss@x.org": {"Gate", "Yard"}}, got)
	require.Len(t, b.box.take(), 2)

	again := NewStatusNotifier(StatusOptions{Store: b.store, Post: b.box})
	again.Known(c)
	require.NoError(t, again.Tell(t.Context(), c))
	require.Empty(t, b.box.take())
	c.Status, c.At = vms.StatusOnline, b.now
	require.NoError(t, again.Tell(t.Context(), c))
	require.Len(t, b.box.take(), 2)
}

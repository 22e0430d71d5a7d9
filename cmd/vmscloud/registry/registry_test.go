package registry

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

var began = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

func newRegistry(t *testing.T) *Registry {
	t.Helper()
	r, err := Open(filepath.Join(t.TempDir(), "registry.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func principal(account string) identity.Principal {
	return identity.Principal{Kind: identity.KindBridge, AccountID: account}
}

func cameraIDs(t *testing.T, r *Registry, account string) []string {
	t.Helper()
	ids := []string{}
	for _, id := range r.CameraIDs(account, "") {
		c, ok := r.CameraOf(account, id)
		require.True(t, ok)
		ids = append(ids, c.ID+"@"+c.BridgeID)
	}
	return ids
}

func has(t *testing.T, r *Registry, account, typ, id string) bool {
	t.Helper()
	ok, err := r.HasActor(t.Context(), account, vms.Actor{Type: typ, ID: id})
	require.NoError(t, err)
	return ok
}

func TestRegistry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	r, err := Open(path)
	require.NoError(t, err)
	now := began
	r.now = func() time.Time { return now }
	register := func(account, id string, cameras ...string) error {
		reg := vms.Registration{ID: id, Name: "Name of " + id, Address: "http://h:1/", ImageToken: "t"}
		for _, c := range cameras {
			reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: c, Name: "Name of " + c})
		}
		return r.Register(t.Context(), principal(account), reg)
	}
	require.NoError(t, register("acc-1", "b1", "c2", "c1"))
	require.NoError(t, register("acc-1", "b2", "c3"))
	require.NoError(t, register("acc-2", "b9", "c9"))
	require.Equal(t, []string{"c1@b1", "c2@b1", "c3@b2"}, cameraIDs(t, r, "acc-1"))
	require.Equal(t, []string{"c9@b9"}, cameraIDs(t, r, "acc-2"))
	require.Empty(t, cameraIDs(t, r, "acc-3"))

	// What is something else of the account is a conflict that changes nothing.
	for _, cameras := range [][]string{{"b2"}, {"c1", "b2"}, {"b1"}} {
		var e *vms.Error
		require.ErrorAs(t, register("acc-1", "b1", cameras...), &e, "%v", cameras)
		require.Equal(t, 409, e.Code)
	}
	require.Error(t, register("acc-1", "c1"), "a camera's id is no id for a bridge")
	// Other accounts call theirs as they like.
	require.NoError(t, register("acc-3", "b1", "c2", "b2"))
	require.Equal(t, []string{"b2@b1", "c2@b1"}, cameraIDs(t, r, "acc-3"))
	require.NoError(t, register("acc-3", "b1", "c2"))
	require.Equal(t, []string{"c1@b1", "c2@b1", "c3@b2"}, cameraIDs(t, r, "acc-1"))

	// A camera moves to another bridge; one that is no longer there keeps its events.
	require.NoError(t, register("acc-1", "b2", "c3", "c2"))
	require.NoError(t, register("acc-1", "b1"))
	require.Equal(t, []string{"c2@b2", "c3@b2"}, cameraIDs(t, r, "acc-1"))
	require.True(t, has(t, r, "acc-1", "camera", "c1"))
	require.NoError(t, register("acc-1", "b1", "c1"))
	require.Equal(t, []string{"c1@b1", "c2@b2", "c3@b2"}, cameraIDs(t, r, "acc-1"))

	for _, c := range []struct {
		account, typ, id string
		want             bool
	}{
		{"acc-1", "camera", "c1", true}, {"acc-2", "camera", "c1", false}, {"acc-1", "bridge", "b1", true},
		{"acc-1", "bridge", "c1", false},
		{"acc-1", "camera", "none", false}, {"acc-1", "bridge", "none", false}, {"acc-1", "account", "acc-1", true},
		{"acc-1", "account", "acc-2", false},
		{"acc-1", "sensor", "s1", true}, {"acc-1", "sensor", "c1", false},
	} {
		require.Equal(t, c.want, has(t, r, c.account, c.typ, c.id), "%v", c)
	}
	// The first event of a sensor makes it the account's.
	mine, err := r.Claim("acc-1", vms.Actor{Type: "sensor", ID: "s1"}, "")
	require.NoError(t, err)
	require.True(t, mine)
	mine, err = r.Claim("acc-2", vms.Actor{Type: "sensor", ID: "s1"}, "")
	require.NoError(t, err)
	require.True(t, mine, "both have one of that id")
	mine, err = r.Claim("acc-1", vms.Actor{Type: "speaker", ID: "s1"}, "")
	require.NoError(t, err)
	require.False(t, mine)
	require.Error(t, register("acc-2", "b9", "s1"))

	key, err := r.Key("k", func() []byte { return []byte("first") })
	require.NoError(t, err)
	require.Equal(t, "first", string(key))

	// All of it outlives the program.
	require.NoError(t, r.Close())
	r, err = Open(path)
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, []string{"c1@b1", "c2@b2", "c3@b2"}, cameraIDs(t, r, "acc-1"))
	require.False(t, has(t, r, "acc-2", "speaker", "s1"), "the id is a sensor's")
	require.Equal(t, []string{"c2@b1"}, cameraIDs(t, r, "acc-3"))
	_, br, ok := r.Camera("acc-1", "c1")
	require.True(t, ok)
	require.Equal(t, "http://h:1", br.Address)
	require.Equal(t, "t", br.Token)
	key, err = r.Key("k", func() []byte { return []byte("second") })
	require.NoError(t, err)
	require.Equal(t, "first", string(key))
	_, err = Open(path)
	require.ErrorContains(t, err, "another process has the file open")
}

// A registration that says nothing new costs no write.
func TestRegisterAgainWritesNothing(t *testing.T) {
	r := newRegistry(t)
	reg := vms.Registration{ID: "b1", Address: "http://h:1",
		Cameras: []vms.RegisteredCamera{{ID: "c1", ConnectionStatus: vms.StatusOnline}}}
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	writes := func() int { return lastTxID(t, r.File()) }
	before := writes()
	for range 10 {
		require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	}
	require.Equal(t, before, writes())
	reg.Address = "http://h:2"
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	require.Greater(t, writes(), before)
}

// Two boxes run from copies of one disk: both are told, as long as both are there. A bridge that
// starts again and again is one.
func TestTwoBridgesAreOne(t *testing.T) {
	r := newRegistry(t)
	now := began
	r.now = func() time.Time { return now }
	register := func(token string) bool {
		t.Helper()
		now = now.Add(30 * time.Second)
		require.NoError(t, r.Register(t.Context(), principal("acc-1"), vms.Registration{ID: "b1", ImageToken: token}))
		return r.Twins("acc-1", "b1")
	}
	for i := range 20 {
		require.False(t, register(string(rune('a'+i))))
	}
	require.False(t, register("x"))
	require.False(t, register("y"))
	require.False(t, register("x"), "it may have been on its way for long")
	for range 10 {
		require.True(t, register("y"))
		require.True(t, register("x"))
	}
	require.False(t, r.Twins("acc-2", "b1"))
	for range 9 {
		register("x")
	}
	require.False(t, register("x"), "the other one has gone")
}

func lastTxID(t *testing.T, db *database.DB) (id int) {
	t.Helper()
	require.NoError(t, db.View(func(tx *bolt.Tx) error { id = tx.ID(); return nil }))
	return id
}

func TestCameraStatus(t *testing.T) {
	r := newRegistry(t)
	now := began
	r.now = func() time.Time { return now }
	status := func() string {
		c, ok := r.CameraOf("acc-1", "c1")
		require.True(t, ok)
		return c.Status.ConnectionStatus
	}
	// A bridge that has just started says that it does not know: what it saw a moment before is
	// news.
	reg := vms.Registration{ID: "b1", Cameras: []vms.RegisteredCamera{{ID: "c1", ConnectionStatus: vms.StatusUnknown}}}
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	require.Equal(t, vms.StatusUnknown, status())
	require.NoError(t, r.SetStatus("acc-1", "c1", vms.StatusDeviceOffline, now.Add(-time.Minute)))
	require.Equal(t, vms.StatusDeviceOffline, status())
	require.NoError(t, r.SetStatus("acc-1", "c1", vms.StatusOnline, now.Add(-2*time.Minute)))
	require.Equal(t, vms.StatusDeviceOffline, status(), "an older event that arrives late changes nothing")
	require.NoError(t, r.SetStatus("acc-1", "c1", vms.StatusOnline, now))
	require.Equal(t, vms.StatusOnline, status())
	require.NoError(t, r.SetStatus("acc-1", "none", vms.StatusOnline, now))

	away := true
	r.Away = func(account string, a vms.Actor) bool {
		return away && account == "acc-1" && a == vms.Actor{Type: vms.ActorCamera, ID: "c1"}
	}
	require.Equal(t, vms.StatusBridgeOffline, status())
	away = false
	reg.Cameras[0].ConnectionStatus = vms.StatusUnknown
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	require.Equal(t, vms.StatusOnline, status(), "a bridge that has just started knows nothing better")
	reg.Cameras[0].ConnectionStatus = ""
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	require.Equal(t, vms.StatusOnline, status(), "without a word on it the last status stays")
	reg.Cameras[0].ConnectionStatus = vms.StatusInvalidCredentials
	require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	require.Equal(t, vms.StatusInvalidCredentials, status())
}

// Whether another credential still stands is asked of the identity file, where somebody may hold a
// transaction and wait for the registry: it must not be locked meanwhile.
func TestRegistryIsFreeWhileItAsks(t *testing.T) {
	r, err := Open(filepath.Join(t.TempDir(), "registry.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	reg := vms.Registration{ID: "b1", Name: "B", Address: "http://h:1/", ImageToken: "t"}
	first, second := principal("acc-1"), principal("acc-1")
	first.Holder, second.Holder = "token:1", "token:2"
	require.NoError(t, r.Register(t.Context(), first, reg))
	asked := 0
	r.Holds = func(string) (string, bool, error) {
		asked++
		var err error
		wait := make(chan struct{})
		go func() {
			defer close(wait)
			if _, err = r.Devices(t.Context(), "acc-1"); err == nil && asked == 1 {
				err = r.Register(t.Context(), first, vms.Registration{ID: "b1", Name: "again", Address: "http://h:1/",
					ImageToken: "t"})
			}
		}()
		select {
		case <-wait:
		case <-time.After(time.Minute):
			t.Error("the registry is locked while the identity file is asked")
		}
		return "", false, err
	}
	require.NoError(t, r.Register(t.Context(), second, reg))
	require.Equal(t, 1, asked)
	require.Equal(t, "token:2", r.accounts["acc-1"].bridges["b1"].Holder)
}

// A bridge is its holder's: another credential of the same account can neither register it nor open
// its tunnel, until the first one is revoked or the operator says so.
func TestABridgeIsItsHolders(t *testing.T) {
	r := newRegistry(t)
	stands := map[string]bool{"token:a": true, "client:b": true}
	r.Holds = func(holder string) (string, bool, error) { return "name of " + holder, stands[holder], nil }
	as := func(holder string) error {
		p := principal("acc-1")
		p.Holder = holder
		return errors.Join(r.Register(t.Context(), p, vms.Registration{ID: "bridge-1"}), r.SpeaksFor(p, "bridge-1"))
	}
	require.NoError(t, as("token:a"))
	require.NoError(t, as("token:a"))
	err := as("client:b")
	require.ErrorContains(t, err, "vmscloud bridge release bridge-1 --account acc-1")
	require.ErrorContains(t, err, "name of token:a")
	var refusal *vms.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, http.StatusConflict, refusal.Code)
	list, err := r.List()
	require.NoError(t, err)
	require.Equal(t, []Held{{ID: "bridge-1", Account: "acc-1", Holder: "token:a", Called: "name of token:a"}}, list)

	require.ErrorIs(t, r.Release("", "bridge-2"), identity.ErrNotFound)
	require.NoError(t, r.Release("", "bridge-1"))
	require.NoError(t, as("client:b"))
	require.Error(t, as("token:a"))
	stands["client:b"] = false
	require.NoError(t, as("token:a"), "the other one is revoked")
}

func TestABridgeThatIsAway(t *testing.T) {
	r := newRegistry(t)
	away := true
	r.Away = func(string, vms.Actor) bool { return away }
	seen := time.Time{}
	r.LastSeen = func(account, bridge string) time.Time {
		require.Equal(t, "acc-1 bridge-1", account+" "+bridge)
		return seen
	}
	require.NoError(t,
		r.Register(t.Context(), principal("acc-1"),
			vms.Registration{ID: "bridge-1",
				Cameras: []vms.RegisteredCamera{{ID: "cam-1", ConnectionStatus: vms.StatusOnline}}}))
	status := func() (string, string) {
		cam, ok := r.CameraOf("acc-1", "cam-1")
		require.True(t, ok)
		devices, err := r.Devices(t.Context(), "acc-1")
		require.NoError(t, err)
		return cam.Status.ConnectionStatus, devices[0].Status
	}
	cam, bridge := status()
	require.Equal(t, vms.StatusBridgeOffline, cam)
	require.Equal(t, vms.StatusDeviceOffline, bridge)
	list, err := r.List()
	require.NoError(t, err)
	require.Equal(t, []Held{{ID: "bridge-1", Account: "acc-1", Status: vms.StatusBridgeOffline, Cameras: 1,
		Online: new(0)}}, list)
	away, seen = false, time.Date(2026, 3, 5, 14, 30, 0, 0, time.UTC)
	cam, bridge = status()
	require.Equal(t, vms.StatusOnline, cam)
	require.Equal(t, vms.StatusOnline, bridge)
	list, err = r.List()
	require.NoError(t, err)
	require.Equal(t, []Held{{ID: "bridge-1", Account: "acc-1", Status: vms.StatusOnline, Cameras: 1, Online: new(1),
		LastSeen: vms.Ptr(seen)}}, list)
}

// A file from when ids were one space for all accounts is refused, since its events are kept under
// other ids.
func TestAFileOfBeforeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	db, err := database.Open(path, FileOptions())
	require.NoError(t, err)
	require.NoError(t, database.InFile(db).Update(func(tx database.Tx) error {
		return tx.Bucket(bucketActors).Put([]byte("gate"), []byte(`{"id":"gate","type":"camera","account":"north"}`))
	}))
	require.NoError(t, db.Close())
	_, err = Open(path)
	require.ErrorContains(t, err, "begin with an empty data folder")
}

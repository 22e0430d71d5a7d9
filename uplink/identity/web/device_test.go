package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
)

func TestDevices(t *testing.T) {
	b := newFixture(t)
	ids := func(key string, a args) (out []any) {
		var rows [][]any
		b.call("GET", "/g/device/list", key, a).want(200).into(&rows)
		for _, r := range rows {
			require.Len(t, r, 27)
			out = append(out, r[1])
		}
		return out
	}
	asu, ru, master := b.signIn("asu@c"), b.signIn("ru@c"), b.signIn("asu@m")
	require.Equal(t, []any{"bridge-c", "cam1-c", "cam2-c"}, ids(asu, nil))
	require.Empty(t, ids(ru, nil), "a regular user sees what camera_access grants")
	require.Equal(t, "[]", string(b.call("GET", "/g/device/list", ru, nil).want(200).body))
	b.EditUser("ru@c", func(u *model.User) {
		u.CameraAccess = model.Lists{{"cam1-c", "rw"}, {"cam2-c", "S"}, {"cam1-o", "R"}}
	})
	require.Equal(t, []any{"cam1-c"}, ids(ru, nil))
	require.Equal(t, []any{"cam1-c", "cam2-c"}, ids(asu, args{"t": "camera"}))
	require.Equal(t, []any{"cam2-c"}, ids(asu, args{"n": "Yard"}))
	require.Equal(t, []any{"bridge-c"}, ids(asu, args{"e": "bridge-c", "s": "ATTD"}))
	require.Empty(t, ids(master, nil))
	b.call("POST", "/g/aaa/switch_account", master, args{"account_id": "c"}).want(200)
	require.Len(t, ids(master, nil), 3)

	var rows [][]any
	b.call("GET", "/g/device/list", ru, nil).want(200).into(&rows)
	row := rows[0]
	require.Equal(t, []any{"c", "cam1-c", "Gate", "camera", []any{[]any{"bridge-c", "ATTD"}}, "ATTD", "RW"}, row[:7])
	require.Equal(t, []any{float64(bitsOnline), "US/Pacific", -28800.0, 0.0, "", 0.0, "Account c"}, row[10:17])
	b.call("GET", "/g/device/list", asu, args{"t": "bridge"}).want(200).into(&rows)
	require.Equal(t, []any{[]any{"cam1-c", "ATTD"}, []any{"cam2-c", "ATTD"}}, rows[0][4])
	require.Equal(t, "192.0.2.1", rows[0][14])

	require.Equal(t, "Gate", b.call("GET", "/g/device", ru, args{"id": "cam1-c"}).want(200).field("name"))
	for _, id := range []string{"cam2-c", "cam1-o", "bridge-c", "nobody"} {
		b.call("GET", "/g/device", ru, args{"id": id}).want(404, id)
	}
	b.call("GET", "/g/device", ru, nil).want(400)
	b.call("GET", "/g/device", "", args{"id": "cam1-c"}).want(401)
	b.call("GET", "/g/device/list", "", nil).want(401)
}

// One who sees all of the own account sees no more of another than what that shares.
func TestAShareIsOneCamera(t *testing.T) {
	b := newFixture(t)
	b.call("POST", "/g/account", b.signIn("asu@c"),
		args{"id": "c", "camera_shares": [][]string{{"M", "cam1-c", "asu@o"}},
			"camera_share_perms": map[string]any{}}).want(200)
	key := b.signIn("asu@o")
	var rows [][]any
	b.call("GET", "/g/device/list", key, nil).want(200).into(&rows)
	var ids []any
	for _, r := range rows {
		ids = append(ids, r[1])
	}
	require.Equal(t, []any{"bridge-o", "cam1-c", "cam1-o", "cam2-o"}, ids)
	b.call("GET", "/g/device", key, args{"id": "cam1-c"}).want(200)
	b.call("GET", "/g/device", key, args{"id": "cam2-c"}).want(404)
	b.call("GET", "/g/device", key, args{"id": "bridge-c"}).want(404)
}

// A camera that is shared is seen by its recipients and nobody else, and is that of the account
// that shares it.
func TestSharedDevices(t *testing.T) {
	b := newFixture(t)
	b.call("POST", "/g/account", b.signIn("asu@c"),
		args{"id": "c", "camera_shares": [][]string{{"M", "cam1-c", "ru@o"}},
			"camera_share_perms": map[string]any{}}).want(200)
	shared := func(key string) (out []any) {
		var rows [][]any
		b.call("GET", "/g/device/list", key, args{"e": "cam1-c"}).want(200).into(&rows)
		for _, r := range rows {
			out = append(out, r[0], r[6], r[15], r[16])
		}
		return out
	}
	require.Equal(t, []any{"c", "R", 1.0, "Account c"}, shared(b.signIn("ru@o")))
	require.Empty(t, shared(b.signIn("asu@o")), "also not the recipient's account superuser")
	b.call("POST", "/g/account", b.signIn("asu@c"),
		args{"id": "c", "camera_shares": [][]string{{"D", "cam1-c"}}, "camera_share_perms": map[string]any{}}).want(200)
	require.Empty(t, shared(b.signIn("ru@o")))
}

// A long list is made outside of a transaction: the file can be closed meanwhile, as when the
// service stops.
func TestAListHoldsNoTransaction(t *testing.T) {
	b := newFixture(t)
	asu := b.signIn("asu@c")
	closed := make(chan error, 1)
	b.devices.listing = func() {
		go func() { closed <- b.Store.Close() }()
		select {
		case err := <-closed:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			t.Error("the file waits for the list")
		}
	}
	var rows [][]any
	b.call("GET", "/g/device/list", asu, nil).want(200).into(&rows)
	require.Len(t, rows, 3)
}

// Where the client has left, or the service stops, a list is cut off, and nobody takes a part for
// the whole.
func TestACutListIsNoList(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	made := 0
	all := func(yield func(any) bool) {
		for made < 1000 && yield("row") {
			if made++; made == 3 {
				leave()
			}
		}
	}
	c := &call{w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(ctx, "GET", "/", nil)}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { _ = c.rows(all) })
	require.Equal(t, 3, made)
}

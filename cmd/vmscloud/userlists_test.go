package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Support sees at which devices a user needs no code, and makes them need one, beside a running
// service and without it.
func TestSupportForgetsDevices(t *testing.T) {
	t.Parallel()
	const anna = "anna@example.org"
	data := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", data, "--account", "Demo", "--email", anna)
	ids, err := openUsers(data, store.Options{})
	require.NoError(t, err)
	require.NoError(t, ids.Update(func(tx *store.Tx) error {
		u, err := tx.UserByEmail(anna)
		require.NoError(t, err)
		u.SetDevices([]model.Device{{Hash: []byte("phone1"), Since: tx.Now(), Name: "Phone\x1b[2J"},
			{Hash: []byte("desk01"), Since: tx.Now()}, {Hash: []byte("desk02")}})
		return tx.PutUser(u)
	}))
	require.NoError(t, ids.Close())
	out := must(t, "user", "devices", "--data", data, anna)
	require.Regexp(t, `(?m)^70686f6e6531 +Phone\?\[2J +20\d\d-`, out)
	must(t, "user", "devices", "--data", data, "--forget", "70686f6e6531", anna)
	_, stderr, code := vmscloud(t, "user", "devices", "--data", data, "--forget", "70686f6e6531", anna)
	require.NotZero(t, code)
	require.Contains(t, stderr, "vmscloud user devices")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	require.Contains(t, must(t, "user", "devices", "--data", data, anna), "6465736b3031")
	must(t, "user", "devices", "--data", data, "--forget", "all", anna)
	require.NotContains(t, must(t, "user", "devices", "--data", data, anna), "6465736b")
	require.Zero(t, p.stop())
}

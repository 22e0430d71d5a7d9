package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/identity/model"
)

// What leads to sessions, tickets and the trail is made anew of them; its numbers go on.
func TestWhatLeadsToVolatileRecordsIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	put := func(tx *Tx) error {
		for _, target := range []string{"x", "y"} {
			require.NoError(t, tx.Record(model.AuditEntry{AccountID: "acc", Target: target}))
		}
		require.NoError(t, tx.PutSession(model.Session{Hash: []byte("s"), UserID: "u"}))
		return tx.PutTicket(model.Ticket{Hash: []byte("t"), UserID: "u", Expires: tx.Now().Add(time.Hour)})
	}
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Update(put))
	require.NoError(t, s.Close())
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{bucketOpen, bucketHeld, bucketTrailIndex} {
			require.NoError(t, tx.DeleteBucket([]byte(name)))
			_, err := tx.CreateBucket([]byte(name))
			require.NoError(t, err)
		}
		require.NoError(t, tx.Bucket([]byte(bucketTrail)).SetSequence(0))
		return rebuild(tx)
	}))
	require.NoError(t, db.Close())
	s, err = Open(path, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Update(func(tx *Tx) error {
		require.NoError(t, tx.Record(model.AuditEntry{AccountID: "acc", Target: "z"}))
		sessions, err := tx.SessionsOf("u")
		require.NoError(t, err)
		require.Len(t, sessions, 1)
		tickets, err := tx.TicketsOf("u")
		require.NoError(t, err)
		require.Len(t, tickets, 1)
		trail, err := tx.AuditTrail("acc", 0, 10)
		require.NoError(t, err)
		require.Len(t, trail, 3)
		require.Equal(t, "z", trail[0].Target)
		return nil
	}))
}

// A record under a key that it does not name is damaged, and so is one that is no JSON.
func TestARecordUnderAnotherKey(t *testing.T) {
	const account = `{"record":{"id":"a"},"inner":{}}`
	require.NoError(t, sound(bucketAccounts, []byte("a"), []byte(account)))
	require.Error(t, sound(bucketAccounts, []byte("b"), []byte(account)))
	require.Error(t, sound(bucketMessages, []byte("m"), []byte("{")))
	require.NoError(t, sound(bucketEmails, []byte("m"), []byte("a")), "an index is made anew")
}

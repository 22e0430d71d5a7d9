package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/storage/postgres/postgrestest"
)

// never is longer than a test.
const never = time.Hour

// beside runs await, and tells of leaders and of its end.
func beside(t *testing.T, address string, frozenAfter time.Duration) (told <-chan Leader, ended <-chan error) {
	leaders, done := make(chan Leader, 10), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		done <- await(ctx, address, Options{}, func(l Leader) { leaders <- l }, frozenAfter)
		close(done)
	}()
	t.Cleanup(func() { stop(); <-done })
	return leaders, done
}

// Those who stand beside hear of the leader that announced itself, not of one before, nor of who
// has the database and says nothing; and may have it when nobody has.
func TestAwait(t *testing.T) {
	t.Parallel()
	db, address := open(t)
	told, ended := beside(t, address, never)
	require.NoError(t, db.Announce([]byte("first")))
	require.Equal(t, Leader{db.epoch, []byte("first")}, <-told)
	db.Close()
	require.NoError(t, <-ended)

	silent := openAt(t, address) // as a command
	c, o, err := configure(address, Options{})
	require.NoError(t, err)
	heard := 0
	w := waiter{config: c.ConnConfig, o: o, told: func(Leader) { heard++ }}
	defer w.leave()
	for range 4 {
		free, err := w.look(t.Context())
		require.NoError(t, err)
		require.False(t, free, "one that never said that it leads is not taken for frozen")
	}
	require.Zero(t, heard, "the note is of one before")
	require.NoError(t, silent.Probe())
	silent.Close()
	for _, may := range []bool{false, true} { // so that one whose connection was cut can take it again
		free, err := w.look(t.Context())
		require.NoError(t, err)
		require.Equal(t, may, free)
	}
	openAt(t, address)
}

// A leader that is frozen in the middle of a change loses its place, and changes nothing any more
// when it goes on.
func TestAFrozenLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	frozen, address := open(t)
	require.NoError(t, frozen.Announce(nil))
	begun, frost, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	thaw := sync.OnceFunc(func() { close(frost) })
	t.Cleanup(thaw) // before the database is closed, which waits for the change
	go func() {
		runs := 0
		done <- frozen.Records("r").Update(func(tx database.Tx) error {
			if runs++; runs == 1 {
				tx.Bucket("b").Get([]byte("k"))
				close(begun)
				<-frost
			}
			return tx.Bucket("b").Put([]byte("k"), []byte("late"))
		})
	}()
	<-begun
	_, ended := beside(t, address, 100*time.Millisecond)
	require.NoError(t, <-ended)
	next := openAt(t, address)
	require.Less(t, frozen.epoch, next.epoch)
	thaw()
	require.ErrorIs(t, <-done, ErrTaken)
	require.ErrorIs(t, frozen.Announce(nil), ErrTaken)
	require.ErrorIs(t, frozen.Run(t.Context()), ErrTaken)
	require.NoError(t, next.Records("r").View(func(tx database.Tx) error {
		require.Nil(t, tx.Bucket("b").Get([]byte("k")))
		return nil
	}))
}

// What is wrong at first is said. A database without tables may be had.
func TestAwaitAtFirst(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, Await(t.Context(), "postgres://u@127.0.0.1:1/d", Options{}, nil), "cannot be reached")
	require.ErrorContains(t, Await(t.Context(), "what is this", Options{}, nil), "must have the form postgres://")
	require.NoError(t, Await(t.Context(), postgrestest.Shared(t).Database(t), Options{}, nil))
}

package postgres

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

func putOne(s database.Store, key string) error {
	return s.Update(func(tx database.Tx) error { return tx.Bucket("b").Put([]byte(key), []byte("v")) })
}

// One process at a time; the next one may have it when the first has gone.
func TestOneAtATime(t *testing.T) {
	db, address := open(t)
	_, err := Open(t.Context(), address, Options{})
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, t.Name(), "who has it")
	require.ErrorContains(t, err, "end that one first")
	require.NoError(t, putOne(db.Records("r"), "k"), "it goes on")
	db.Close()
	openAt(t, address)
}

// A process whose hold was cut, and which another one followed, changes nothing any more, neither
// what it begins nor what it has under way, and ends.
func TestTaken(t *testing.T) {
	db, address := open(t)
	r := db.Records("r")
	require.NoError(t, putOne(r, "before"))
	cut(t, address)
	require.NoError(t, putOne(r, "alone still"), "nobody else has it")

	begun, going, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		done <- r.Update(func(tx database.Tx) error {
			once.Do(func() { close(begun); <-going })
			return tx.Bucket("b").Put([]byte("under way"), nil)
		})
	}()
	<-begun
	next := make(chan *DB, 1)
	go func() { next <- openAt(t, address) }()
	// The next one waits for what is under way.
	require.Eventually(t, func() bool { return waiting(t, address) > 0 }, 20*time.Second, 5*time.Millisecond)
	close(going)
	require.NoError(t, <-done)
	second := <-next
	require.NoError(t, second.Records("r").View(func(tx database.Tx) error {
		require.NotNil(t, tx.Bucket("b").Get([]byte("under way")), "what was acknowledged is seen by the next one")
		return nil
	}))
	require.ErrorIs(t, putOne(r, "after"), ErrTaken)
	e := &Events{db: db}
	require.ErrorIs(t, e.PutAll(list(event("a/cam", zero)), false), ErrTaken)
	require.ErrorIs(t, e.SetMeta("k", []byte("v")), ErrTaken)
	require.ErrorIs(t, e.Probe(), ErrTaken)
	require.Equal(t, "another vmscloud has taken this database over", Reason(db.Failing()))
	require.ErrorIs(t, db.Run(t.Context()), ErrTaken)
	require.NoError(t, second.Records("r").View(func(tx database.Tx) error {
		require.Nil(t, tx.Bucket("b").Get([]byte("after")))
		return nil
	}))
}

// cut ends the connection that holds a database, as a network does.
func cut(t *testing.T, address string) {
	admin(t, address, `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
		and database = (select oid from pg_database where datname = current_database())`)
	require.Eventually(t, func() bool {
		return admin(t, address, `select count(*) from pg_locks where locktype = 'advisory'
			and database = (select oid from pg_database where datname = current_database())`) == "0"
	}, 20*time.Second, 5*time.Millisecond)
}

func waiting(t *testing.T, address string) int {
	var n int
	_, err := fmt.Sscan(admin(t, address, `select count(*) from pg_locks where relation = 'vms_node'::regclass and not granted`), &n)
	require.NoError(t, err)
	return n
}

// admin runs a query beside the program, and returns its first value.
func admin(t *testing.T, address, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), sql)
	require.NoError(t, err)
	defer rows.Close()
	v := ""
	if rows.Next() {
		values, err := rows.Values()
		require.NoError(t, err)
		v = fmt.Sprint(values[0])
	}
	rows.Close()
	require.NoError(t, rows.Err())
	return v
}

// The server is killed under load and started again: all that was acknowledged is there, and the
// program goes on by itself, holding the database.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	s := postgrestest.Start(t, postgrestest.Durable)
	address := s.Database(t)
	var log bytes.Buffer
	db, err := Open(t.Context(), address, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- db.Run(ctx) }()
	defer func() { stop(); require.NoError(t, <-ran); db.Close() }()
	e, err := db.Events()
	require.NoError(t, err)
	require.NoError(t, db.Probe())

	var mu sync.Mutex
	var events, keys []string
	ends := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ends:
					return
				default:
				}
				ev := event(fmt.Sprintf("a/cam%d", w), zero.Add(time.Duration(i)*time.Millisecond))
				key := fmt.Sprintf("%d-%d", w, i)
				errEvent, errRecord := e.PutAll(list(ev), false), putOne(db.Records("r"), key)
				mu.Lock()
				if errEvent == nil {
					events = append(events, ev.ID)
				}
				if errRecord == nil {
					keys = append(keys, key)
				}
				mu.Unlock()
			}
		})
	}
	acknowledged := func() int { mu.Lock(); defer mu.Unlock(); return min(len(events), len(keys)) }
	require.Eventually(t, func() bool { return acknowledged() >= 20 }, time.Minute, time.Millisecond)
	s.Kill()
	require.Error(t, db.Probe())
	require.Contains(t, Reason(db.Failing()), "PostgreSQL cannot be reached")
	require.True(t, db.Doubtful())
	before := acknowledged()
	s.Again(t)
	require.Eventually(t, func() bool { return acknowledged() >= before+20 }, time.Minute, time.Millisecond)
	close(ends)
	writers.Wait()
	require.NoError(t, db.Failing())
	for _, id := range events {
		_, err := e.Get(id)
		require.NoError(t, err, "acknowledged")
	}
	require.NoError(t, db.Records("r").View(func(tx database.Tx) error {
		for _, k := range keys {
			require.NotNil(t, tx.Bucket("b").Get([]byte(k)), "acknowledged")
		}
		return nil
	}))
	require.Eventually(t, func() bool { // Open itself would take it in the moment in which nobody holds it
		return admin(t, address, `select count(*) from pg_locks where locktype = 'advisory' and granted`) == "1"
	}, time.Minute, 20*time.Millisecond, "it holds the database again")
	_, err = Open(t.Context(), address, Options{})
	require.ErrorIs(t, err, ErrBusy)
}

// While its synchronous standbys are gone, no commit is acknowledged, and its caller is told so
// within its patience; with one of them back all goes on. A standby itself is refused.
func TestStandbysAreGone(t *testing.T) {
	t.Parallel()
	s := postgrestest.Start(t)
	a, b := s.Standby(t, "a"), s.Standby(t, "b")
	s.Exec(t, "postgres", "alter system set synchronous_standby_names = 'ANY 1 (a, b)'")
	s.Exec(t, "postgres", "select pg_reload_conf()")
	synchronous := func() int {
		n, err := strconv.Atoi(s.Value(t, "select count(*)::text from pg_stat_replication where sync_state = 'quorum'"))
		require.NoError(t, err)
		return n
	}
	require.Eventually(t, func() bool { return synchronous() == 2 }, time.Minute, 10*time.Millisecond)
	address := s.Database(t)
	name := postgrestest.Name(address)
	for _, standby := range []*postgrestest.Server{a, b} {
		require.Eventually(t, func() bool {
			return standby.Value(t, "select count(*)::text from pg_database where datname = '"+name+"'") == "1"
		}, time.Minute, 10*time.Millisecond)
	}
	db, err := Open(t.Context(), postgrestest.Hosts(name, a, s, b), Options{Patience: 2 * time.Second})
	require.NoError(t, err, "of several it takes the primary")
	defer db.Close()
	_, err = Open(t.Context(), postgrestest.Hosts(name, a, b), Options{})
	require.ErrorContains(t, err, "name the primary")

	b.Kill()
	require.NoError(t, putOne(db.Records("r"), "one is left"))
	a.Kill()
	err = putOne(db.Records("r"), "none is left")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "synchronous standbys")
	require.ErrorContains(t, db.Failing(), "synchronous standbys")
	require.True(t, db.Doubtful())
	a.Again(t)
	require.Eventually(t, func() bool { return db.Probe() == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, db.Failing())
	require.NoError(t, putOne(db.Records("r"), "none is left"), "sent again it is one")
}

// With its disk full PostgreSQL takes no more events; what was acknowledged stays, it is told what
// is wrong, and it goes on once there is room.
func TestDiskOfPostgresIsFull(t *testing.T) {
	t.Parallel()
	s := postgrestest.Start(t)
	disk, more := s.SmallDisk(t, 16<<20)
	s.Exec(t, "postgres", "create tablespace small location '"+disk+"'")
	s.Exec(t, "postgres", "create database small tablespace small")
	db, err := Open(t.Context(), s.Address("small"), Options{})
	require.NoError(t, err)
	defer db.Close()
	e, err := db.Events()
	require.NoError(t, err)
	var kept []string
	for i := 0; err == nil && i < 100_000; i += 500 {
		var batch []vms.Event
		for k := range 500 {
			batch = append(batch, event("a/cam", zero.Add(time.Duration(i+k)*time.Second)))
		}
		if err = e.PutAll(batch, true); err == nil {
			kept = append(kept, batch[0].ID, batch[499].ID)
		}
	}
	require.ErrorContains(t, err, "the disk of PostgreSQL is full")
	require.Equal(t, "the disk of PostgreSQL is full", Reason(db.Failing()))
	require.NotEmpty(t, kept)
	for _, id := range kept {
		_, err := e.Get(id)
		require.NoError(t, err, "acknowledged")
	}
	more(64 << 20)
	require.NoError(t, e.PutAll(list(event("a/other", zero)), true))
	require.NoError(t, db.Failing())
}

// Whatever keeps the database from being opened is said in plain words, without the password.
func TestWhatIsWrongIsSaid(t *testing.T) {
	s := postgrestest.Shared(t)
	address := s.Database(t)
	name := postgrestest.Name(address)
	s.Exec(t, name, "create user locked password 'secret-one'")
	s.Exec(t, name, "create user guest")
	readOnly, latin, newer := s.Database(t), "latin"+name, s.Database(t)
	s.Exec(t, "postgres", "alter database "+postgrestest.Name(readOnly)+" set default_transaction_read_only = on")
	s.Exec(t, "postgres", "create database "+latin+" encoding 'LATIN1' template template0")
	s.Exec(t, postgrestest.Name(newer), "create table vms_schema (version int); insert into vms_schema values (99)")
	slow := s.Database(t)
	db := openAt(t, slow)
	db.Close()
	held, err := pgx.Connect(t.Context(), slow)
	require.NoError(t, err)
	defer held.Close(context.WithoutCancel(t.Context()))
	_, err = held.Exec(t.Context(), "begin; lock table vms_node in access exclusive mode")
	require.NoError(t, err)

	as := func(user string) string { return strings.Replace(address, "user=vms", "user="+user, 1) }
	for what, c := range map[string]struct{ address, says string }{
		"no address":        {"what is this", "must have the form postgres://"},
		"a bad address":     {"postgres://u:secret-two@h:port/d", "must have the form postgres://"},
		"nobody there":      {"postgres:///d?user=u&password=secret-two&host=/nowhere", "cannot be reached"},
		"no such host":      {"postgres://u:secret-two@127.0.0.1:1/d", "cannot be reached"},
		"no such database":  {s.Address("nothing"), "make it with createdb"},
		"a wrong password":  {as("locked") + "&password=secret-two", "see the user and password"},
		"no rights":         {as("guest"), "make it the owner"},
		"a standby":         {readOnly, "name the primary"},
		"another encoding":  {s.Address(latin), "--encoding=UTF8"},
		"newer tables":      {newer, "use a newer program"},
		"tables that hang":  {slow + "&lock_timeout=200", "something holds its tables"},
		"a hanging request": {slow + "&statement_timeout=200", "did not answer in time"},
	} {
		_, err := Open(t.Context(), c.address, Options{})
		require.ErrorContains(t, err, c.says, what)
		require.NotContains(t, err.Error(), "secret", what)
		require.NotContains(t, Reason(err), "vms-pg", "%s: the reason names no machine", what)
	}
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	require.ErrorContains(t, suits(t.Context(), conn, 99), "needs 99 or newer")
	require.NoError(t, suits(t.Context(), conn, oldest))
}

// A clock that is off by minutes is told.
func TestClockWrong(t *testing.T) {
	address := postgrestest.Shared(t).Database(t)
	openAs := func(off time.Duration) *DB {
		db, err := Open(t.Context(), address, Options{Now: func() time.Time { return time.Now().Add(off) }})
		require.NoError(t, err)
		return db
	}
	db := openAs(0)
	require.Empty(t, db.ClockWrong())
	db.Close()
	for _, off := range []time.Duration{7 * time.Minute, -7 * time.Minute} {
		db = openAs(off)
		require.Contains(t, db.ClockWrong(), "differ by 7m")
		db.Close()
	}
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience is how long one call may take, conflicts and waiting for a connection included: a client
// has its answer in ten seconds.
const patience = 9 * time.Second

// maxConns is how many connections there are at most, unless the address says pool_max_conns. All
// but a list of very many events take milliseconds, so that few serve many requests.
const maxConns = 16

// Options of Open. The zero value works.
type Options struct {
	// Name is what another process that wants the database is told of this one: a host's name.
	Name string
	// Log receives what someone should know of. Nil logs nothing.
	Log *slog.Logger
	// Now is this machine's clock. Nil means time.Now.
	Now func() time.Time
	// Patience is how long one call may take, conflicts and waiting for a connection included; 0
	// means nine seconds.
	Patience time.Duration
}

// DB is an open database, which this process has to itself. Safe for concurrent use.
type DB struct {
	pool  *pgxpool.Pool
	opts  Options
	epoch int64 // of this process: see node.go

	mu      sync.Mutex // guards what follows; never held while PostgreSQL is asked
	held    *pgx.Conn  // the connection that has the lock; nil while it is lost
	seen    time.Time  // when it was asked last of what it answered; zero while it is lost
	skew    time.Duration
	failing error // why the last change failed, if PostgreSQL was to blame
	ended   bool  // Run has ended
}

// settings are those of each connection. Generic plans: planning a list anew costs more than the
// list, by the number of partitions. All go by a key, from few rows to few: without statistics, the
// planner would read whole tables, and have transactions meet that touch other records.
// Compiling a plan takes longer than any of them (100 ms for a count). Keep-alives: a process whose
// machine lost its power must not hold the database for hours.
var settings = map[string]string{
	"application_name":                    "vmscloud",
	"statement_timeout":                   "10s",
	"lock_timeout":                        "8s",
	"idle_in_transaction_session_timeout": "20s",
	"plan_cache_mode":                     "force_generic_plan",
	"enable_seqscan":                      "off",
	"enable_hashjoin":                     "off",
	"enable_mergejoin":                    "off",
	"jit":                                 "off",
	"timezone":                            "UTC",
	"tcp_keepalives_idle":                 "10",
	"tcp_keepalives_interval":             "5",
	"tcp_keepalives_count":                "3",
	"tcp_user_timeout":                    "30000",
}

// Open opens the database at an address of libpq's form, such as postgres://user@host/name; of
// several hosts it takes the one that may be written to. It makes or brings up to date its tables.
// The error wraps ErrBusy if another process has the database. It starts no goroutine; whoever
// keeps it open calls Run.
func Open(ctx context.Context, address string, o Options) (*DB, error) {
	c, o, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	db := &DB{opts: o}
	if db.pool, err = pgxpool.NewWithConfig(ctx, c); err == nil {
		err = db.begin(ctx)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open PostgreSQL: %w", plain(err))
	}
	return db, nil
}

// configure reads an address, and completes the options.
func configure(address string, o Options) (*pgxpool.Config, Options, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, o, errors.New("read the address of PostgreSQL: it must have the form " +
			"postgres://USER@HOST/DATABASE; several hosts are joined by commas, " +
			"and a password belongs into ~/.pgpass or PGPASSWORD")
	}
	for name, value := range settings {
		if c.ConnConfig.RuntimeParams[name] == "" {
			c.ConnConfig.RuntimeParams[name] = value
		}
	}
	if c.ConnConfig.ValidateConnect == nil {
		c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	c.ConnConfig.ConnectTimeout = o.Patience / 2
	if !hasPoolSize(address) {
		c.MaxConns = maxConns
	}
	return c, o, nil
}

// waitFor is how long Open waits for another process to let go, as one that was just told to end.
const waitFor = time.Second

// begin looks whether the server will do, takes the database, and makes its tables.
func (db *DB) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*db.opts.Patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	db.held = conn
	if err := suits(ctx, conn, oldest); err != nil {
		return err
	}
	for since := time.Now(); ; {
		err := db.take(ctx, conn)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrBusy) || time.Since(since) > waitFor {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := migrate(ctx, conn, versions); err != nil {
		return err
	}
	if err := db.number(ctx, conn); err != nil {
		return err
	}
	return db.look(ctx, conn)
}

// suits is nil if the server is one that this program knows.
func suits(ctx context.Context, conn *pgx.Conn, oldest int) error {
	var version int
	var shown, encoding string
	err := conn.QueryRow(ctx, `select current_setting('server_version_num')::int, current_setting('server_version'),
		current_setting('server_encoding')`).Scan(&version, &shown, &encoding)
	switch {
	case err != nil:
		return err
	case version < oldest*10000:
		return fmt.Errorf("the server is PostgreSQL %s; this needs %d or newer", shown, oldest)
	case encoding != "UTF8":
		return fmt.Errorf("the database has the encoding %s; make one with: "+
			"createdb --encoding=UTF8 --template=template0 NAME", encoding)
	}
	return nil
}

// oldest is the oldest version of PostgreSQL that the tests ran with.
const oldest = 15

// Close gives the database up and ends all connections. It waits for calls under way.
func (db *DB) Close() {
	db.mu.Lock()
	held := db.held
	db.held = nil
	db.mu.Unlock()
	if held != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = held.Exec(ctx, `select pg_advisory_unlock_all()`) // it goes with the connection, too, but later
		_ = held.Close(ctx)
	}
	if db.pool != nil {
		db.pool.Close()
	}
}

// Failing is why PostgreSQL did not take the last change, nil if it did.
func (db *DB) Failing() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.failing
}

// Doubtful reports whether it should be tried soon whether changes are possible.
func (db *DB) Doubtful() bool { return db.Failing() != nil }

// Probe tries whether changes are possible, as Failing then says.
func (db *DB) Probe() error {
	return db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `insert into vms_records values ('probe', '\x00', '') on conflict (bucket, key) do update
			set value = excluded.value`)
		return err
	})
}

// clockMay is by how much this machine's clock may differ from the server's: sessions, codes and
// the ends of tokens are told by the one, and seen by whoever takes the database over by another.
const clockMay = time.Minute

// ClockWrong says what is wrong with the clocks, "" if nothing is.
func (db *DB) ClockWrong() string {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.skew.Abs() < clockMay {
		return ""
	}
	return fmt.Sprintf("this machine's clock and that of PostgreSQL differ by %s: set them, by NTP",
		db.skew.Abs().Round(time.Second))
}

// look asks over the connection that has the lock what time it is there.
func (db *DB) look(ctx context.Context, conn *pgx.Conn) error {
	var there time.Time
	before := db.opts.Now()
	began := time.Now()
	if err := conn.QueryRow(ctx, `select clock_timestamp()`).Scan(&there); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.skew = before.Add(time.Since(began) / 2).Sub(there)
	db.seen = began
	return nil
}

// How transactions begin. A change first takes the table that says whose the database is, and only
// then looks: what it sees is not from before another process took the database.
const (
	readOnly      = `begin isolation level repeatable read read only`
	readCommitted = `begin isolation level read committed; lock table vms_node in row share mode; select epoch from vms_node`
	serializable  = `begin isolation level serializable; lock table vms_node in row share mode; select epoch from vms_node`
)

// write runs a transaction that changes things, again where it met another one, and notes how
// PostgreSQL is. do's own errors end it.
func (db *DB) write(begin string, do func(context.Context, *pgx.Conn) error) error {
	err := db.run(begin, do)
	_, answered := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		db.note(nil)
	case answered:
		err = errors.Unwrap(err)
	default:
		err = plain(err)
		db.note(err)
	}
	return err
}

// refusal is an error of the function's of a transaction, not of PostgreSQL's.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// refuse marks an error as the function's own.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{err}
}

func (db *DB) note(err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if errors.Is(db.failing, ErrTaken) {
		return
	}
	db.failing = err
}

// run runs a transaction, again after a conflict while there is time, and again where the
// connection was dead before it could commit, as all are after PostgreSQL was started anew.
func (db *DB) run(begin string, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), db.opts.Patience)
	defer cancel()
	pause, broken := 2*time.Millisecond, 0
	for {
		again, err := db.once(ctx, begin, do)
		switch {
		case err == nil:
			return nil
		case isConflict(err):
			select {
			case <-ctx.Done():
				return err
			case <-time.After(rand.N(pause)):
			}
			pause = min(2*pause, 200*time.Millisecond)
		case again && broken < maxConns && ctx.Err() == nil: // each connection may be one of those
			broken++
		default:
			return err
		}
	}
}

// once runs a transaction. again says that its connection broke before anything can have happened.
func (db *DB) once(ctx context.Context, begin string, do func(context.Context, *pgx.Conn) error) (again bool,
	err error) {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release() // which ends a connection that is in a transaction still
	conn := c.Conn()
	if err := db.start(ctx, conn, begin); err != nil {
		return conn.IsClosed() && ctx.Err() == nil, err
	}
	if err := do(ctx, conn); err != nil {
		again := conn.IsClosed() && ctx.Err() == nil
		if !again {
			_, _ = conn.Exec(ctx, "rollback")
		}
		return again, err
	}
	tag, err := conn.Exec(ctx, "commit")
	switch {
	case err != nil && conn.IsClosed() && begin != readOnly:
		return false, fmt.Errorf("%w: %w", errUnknown, err)
	case err == nil && tag.String() != "COMMIT":
		err = errors.New("the transaction was rolled back")
	}
	return false, err
}

// start begins a transaction, and for a change looks whether the database is still this process's.
func (db *DB) start(ctx context.Context, conn *pgx.Conn, begin string) error {
	results, err := conn.PgConn().Exec(ctx, begin).ReadAll()
	if err != nil || begin == readOnly {
		return err
	}
	rows := results[len(results)-1].Rows
	if len(rows) != 1 || string(rows[0][0]) != fmt.Sprint(db.epoch) {
		_, _ = conn.Exec(ctx, "rollback")
		return ErrTaken
	}
	return nil
}

// hasPoolSize reports whether an address says how many connections there are.
func hasPoolSize(address string) bool { return strings.Contains(address, "pool_max_conns=") }

package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vmsbridge/storage/database"
)

// Several processes may stand beside the one that has the database, its leader. It tells them by a
// note, which goes with its number, how it is to be reached; and when it is gone, one of them takes
// its place. They change nothing meanwhile.

// Leader is the process that has the database.
type Leader struct {
	Epoch int64  // its number: another process has another one
	Note  []byte // what it said to Announce
}

// frozenAfter is how long a leader may ask nothing over the connection that holds the database,
// where it does so each lookEvery, before another process takes its place: it is frozen, or cut
// off.
const frozenAfter = 5 * time.Second

// announcement is the note as it is stored.
type announcement struct {
	Epoch int64  `json:"epoch"`
	Note  []byte `json:"note"`
}

const leaderPart, leaderBucket, leaderKey = "node", "leader", "note"

// Announce stores the note for those who stand beside: Await tells it to them. From then on Run
// must run, or they take this process for frozen.
func (db *DB) Announce(note []byte) error {
	raw, err := json.Marshal(announcement{db.epoch, note})
	if err != nil {
		return err
	}
	return db.Records(leaderPart).Update(func(tx database.Tx) error {
		return tx.Bucket(leaderBucket).Put([]byte(leaderKey), raw)
	})
}

// Await stands beside the process that has the database until Open may succeed, which it may not if
// another one that waits is faster: nobody has it, or it was taken from a leader that is frozen.
// It tells of each leader that announced itself, in this goroutine. What keeps it from looking at
// first is an error; later it tries again until ctx is done, whose error it returns.
func Await(ctx context.Context, address string, o Options, told func(Leader)) error {
	return await(ctx, address, o, told, frozenAfter)
}

func await(ctx context.Context, address string, o Options, told func(Leader), frozenAfter time.Duration) error {
	c, o, err := configure(address, o)
	if err != nil {
		return err
	}
	w := waiter{config: c.ConnConfig, o: o, told: told, frozenAfter: frozenAfter}
	defer w.leave()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		free, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && first:
			return plain(err)
		case err != nil && !w.lost:
			o.Log.Error("it cannot be seen who has the database; it is tried again", "error", plain(err))
		case err == nil && free:
			return nil
		}
		w.lost = err != nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// waiter is a process that stands beside.
type waiter struct {
	config *pgx.ConnConfig
	o      Options
	told   func(Leader)

	frozenAfter time.Duration

	conn *pgx.Conn
	last Leader
	lost bool // PostgreSQL did not answer
	free int  // how many looks in a row found that it could be had
}

func (w *waiter) leave() {
	if w.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.conn.Close(ctx)
		w.conn = nil
	}
}

// whoHas asks for the number, the note, and the connection that holds the database with how long it
// has asked nothing. One of a process that has a statement under way is not silent.
const whoHas = `select n.epoch, coalesce((select value from vms_records where bucket = $1 and key = $2), ''),
	coalesce(a.pid, 0), case when a.state = 'idle' then
		coalesce(extract(epoch from clock_timestamp() - a.state_change), 0)::float8 else 0 end
	from vms_node n left join (select pid, state, state_change from pg_locks l join pg_stat_activity using (pid)
		where l.locktype = 'advisory' and l.granted and l.classid = $3 and l.objid = $4
			and l.database = (select oid from pg_database where datname = current_database())) a on true`

// endSilent ends a connection that holds the database, and those that are in the middle of a change
// and say nothing: whoever comes next would wait for them.
const endSilent = `select pg_terminate_backend(pid, 1000) from pg_stat_activity where pid = $1
	or state = 'idle in transaction' and extract(epoch from clock_timestamp() - state_change) > $2 and pid in (
		select pid from pg_locks where relation = 'vms_node'::regclass
			and database = (select oid from pg_database where datname = current_database()))`

// look reports whether the database may be had.
func (w *waiter) look(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Patience)
	defer cancel()
	if w.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, w.config)
		if err != nil {
			return false, err
		}
		w.conn = conn
		if err := suits(ctx, conn, oldest); err != nil {
			return false, err
		}
	}
	var epoch int64
	var note []byte
	var pid int
	var silent float64
	err := w.conn.QueryRow(ctx, whoHas, leaderPart+"/"+leaderBucket, []byte(leaderKey), int64(lockKey)>>32,
		int64(lockKey)&0xffffffff).Scan(&epoch, &note, &pid, &silent)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // there are no tables yet
		return true, nil
	}
	if err != nil {
		w.leave()
		w.free = 0
		return false, err
	}
	var a announcement
	announced := len(note) > 0 && json.Unmarshal(note, &a) == nil && a.Epoch == epoch
	if l := (Leader{epoch, a.Note}); announced && pid != 0 &&
		(l.Epoch != w.last.Epoch || !bytes.Equal(l.Note, w.last.Note)) {
		w.last = l
		w.told(l)
	}
	frozen := pid != 0 && announced && silent > w.frozenAfter.Seconds()
	if pid != 0 && !frozen {
		w.free = 0
		return false, nil
	}
	// Two looks, so that a leader whose connection was cut has the time to take it again.
	if w.free++; w.free < 2 {
		return false, nil
	}
	if frozen {
		w.o.Log.Warn("the process that has the database is frozen, or cut off; its place is taken", "epoch", epoch)
	}
	_, err = w.conn.Exec(ctx, endSilent, pid, w.frozenAfter.Seconds())
	return err == nil, err
}

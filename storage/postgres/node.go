package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Whose the database is. A process holds an advisory lock over a connection of its own, so that
// another one is refused at once, and has the number of its time (epoch) in vms_node, which each
// change compares. The lock goes when that connection is cut, while others of the process may go
// on; then another process may take the database, which gives it the next number, and nothing that
// the first one still has under way or begins can change anything: it waits for the table's lock,
// and then sees the number.

var (
	// ErrBusy is wrapped by Open's error when another process has the database.
	ErrBusy = errors.New("another vmscloud uses this database")
	// ErrTaken is wrapped by the errors of all changes, and by Run's, when another process took the
	// database.
	ErrTaken = errors.New("another vmscloud has taken this database over")
)

// lockKey is the number of the advisory lock: "vmsb" and a 1.
const lockKey = 0x766d736201

// lookEvery is how often Run looks whether the lock is still held. While it is not, another process
// may take the database, be it a command.
const lookEvery = 500 * time.Millisecond

// take takes the lock, or says who has it.
func (db *DB) take(ctx context.Context, conn *pgx.Conn) error {
	var ok bool
	if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, int64(lockKey)).Scan(&ok); err != nil || ok {
		return err
	}
	who := "who is not known"
	var name, from string
	var since time.Time
	err := conn.QueryRow(ctx, `select coalesce((select name from vms_node), ''), coalesce(host(a.client_addr), 'the server itself'),
		a.backend_start from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2`,
		int64(lockKey)>>32, int64(lockKey)&0xffffffff).Scan(&name, &from, &since)
	if err == nil {
		who = fmt.Sprintf("%s, from %s, since %s", name, from, since.UTC().Format(time.RFC3339))
	}
	return fmt.Errorf("%w (%s): one at a time can; end that one first", ErrBusy, who)
}

// number gives this process the next number.
func (db *DB) number(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Changes that are under way have the table in a mode that this one waits for.
		if _, err := tx.Exec(ctx, `lock table vms_node in exclusive mode`); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `update vms_node set epoch = epoch + 1, name = $1 returning epoch`, db.opts.Name).
			Scan(&db.epoch)
	})
}

// Run keeps the lock, taking it again after its connection broke, until ctx is done. The error
// wraps ErrTaken if another process took the database: this one must end, for it knows things
// that may be so no longer.
func (db *DB) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	defer func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.ended = true
	}()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := db.hold(ctx)
		switch {
		case errors.Is(err, ErrTaken):
			db.note(err)
			return fmt.Errorf("this vmscloud ends: %w", err)
		case ctx.Err() != nil:
		case err != nil && !lost:
			lost = true
			db.note(plain(err))
			db.opts.Log.Error("the connection that holds the database was lost; it is tried again", "error", plain(err))
		case err == nil && lost:
			lost = false
			db.opts.Log.Info("the database is held again")
		}
	}
}

// hold sees to it that the lock is held.
func (db *DB) hold(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.Patience)
	defer cancel()
	db.mu.Lock()
	conn := db.held
	db.mu.Unlock()
	if conn != nil {
		if err := db.look(ctx, conn); err == nil {
			return nil
		}
		_ = conn.Close(ctx)
		db.mu.Lock()
		db.held, db.seen = nil, time.Time{}
		db.mu.Unlock()
	}
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	began := time.Now()
	var epoch int64
	if err = conn.QueryRow(ctx, `select epoch from vms_node`).Scan(&epoch); err == nil && epoch != db.epoch {
		err = ErrTaken
	}
	if err == nil {
		err = db.take(ctx, conn)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.held, db.seen = conn, began
	return nil
}

func (db *DB) hasEnded() bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.ended
}

// Held reports whether no other process can have taken the database yet, as far as Run has seen:
// what is known in memory still holds. It asks nothing.
func (db *DB) Held() bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return time.Since(db.seen) < frozenAfter
}

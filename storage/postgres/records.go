package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"vmsbridge/storage/database"
)

// Records are those of one program part, whose buckets are apart from those of other names. Closing
// them does nothing: the DB is closed by whoever opened it.
func (db *DB) Records(name string) database.Store { return space{db, name + "/"} }

type space struct {
	db     *DB
	prefix string
}

func (s space) View(read func(database.Tx) error) error {
	err := s.db.run(readOnly, func(ctx context.Context, conn *pgx.Conn) error {
		return s.transact(ctx, conn, read)
	})
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.error
	}
	return plain(err)
}

func (s space) Update(write func(database.Tx) error) error {
	return s.db.write(serializable, func(ctx context.Context, conn *pgx.Conn) error {
		return s.transact(ctx, conn, write)
	})
}

func (s space) Close() error { return nil }

func (s space) Held() bool { return s.db.Held() }

func (s space) transact(ctx context.Context, conn *pgx.Conn, f func(database.Tx) error) error {
	t := &transaction{ctx: ctx, conn: conn, prefix: s.prefix}
	return guarded(func() error {
		if err := f(t); err != nil {
			return refuse(err)
		}
		t.flush()
		return nil
	})
}

// transaction is one of the records. Changes are gathered and sent together before something is
// read, or at the end.
type transaction struct {
	ctx    context.Context
	conn   *pgx.Conn
	prefix string
	queue  pgx.Batch
}

func (t *transaction) Bucket(name string) database.Bucket { return bucket{t, t.prefix + name} }

func (t *transaction) Buckets() []string {
	t.flush()
	rows, err := t.conn.Query(t.ctx, `select substr(bucket, length($1::text) + 1) from (select bucket from vms_records union
		select bucket from vms_sequences) b where starts_with(bucket, $1) order by bucket`, t.prefix)
	must(err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(err)
	return names
}

func (t *transaction) flush() {
	if t.queue.Len() == 0 {
		return
	}
	err := t.conn.SendBatch(t.ctx, &t.queue).Close()
	t.queue = pgx.Batch{}
	must(err)
}

type bucket struct {
	tx   *transaction
	name string
}

// maxKeyBytes is less than what an index of PostgreSQL takes.
const maxKeyBytes = 2048

func (b bucket) Get(key []byte) []byte {
	b.tx.flush()
	var value []byte
	err := b.tx.conn.QueryRow(b.tx.ctx, `select value from vms_records where bucket = $1 and key = $2`,
		b.name, nonNil(key)).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	must(err)
	return nonNil(value)
}

func (b bucket) Put(key, value []byte) error {
	if len(key) == 0 || len(key) > maxKeyBytes {
		return fmt.Errorf("put a record of %s: its key has %d bytes, not 1 to %d", b.name, len(key), maxKeyBytes)
	}
	b.tx.queue.Queue(`insert into vms_records values ($1, $2, $3) on conflict (bucket, key) do update set value = excluded.value`,
		b.name, bytes.Clone(key), nonNil(bytes.Clone(value)))
	return nil
}

func (b bucket) Delete(key []byte) error {
	b.tx.queue.Queue(`delete from vms_records where bucket = $1 and key = $2`, b.name, nonNil(bytes.Clone(key)))
	return nil
}

func (b bucket) NextSequence() (uint64, error) {
	b.tx.flush()
	var n int64
	must(b.tx.conn.QueryRow(b.tx.ctx, `insert into vms_sequences values ($1, 1) on conflict (bucket) do update
		set last = vms_sequences.last + 1 returning last`, b.name).Scan(&n))
	return uint64(n), nil
}

func (b bucket) Sequence() uint64 {
	b.tx.flush()
	var n int64
	err := b.tx.conn.QueryRow(b.tx.ctx, `select last from vms_sequences where bucket = $1`, b.name).Scan(&n)
	if !errors.Is(err, pgx.ErrNoRows) {
		must(err)
	}
	return uint64(n)
}

func (b bucket) SetSequence(last uint64) error {
	b.tx.queue.Queue(`insert into vms_sequences values ($1, $2) on conflict (bucket) do update set last = excluded.last`,
		b.name, int64(last))
	return nil
}

// The first look at a range reads few records, for most loops end early, and the others more.
const firstLook, nextLook = 100, 1000

// A bound that is not there is left out of the text: a plan knows no values.
const (
	upAll    = `select key, value from vms_records where bucket = $1 and key >= $2 order by key limit $3`
	upTo     = `select key, value from vms_records where bucket = $1 and key >= $2 and key < $4 order by key limit $3`
	downAll  = `select key, value from vms_records where bucket = $1 and key >= $2 order by key desc limit $3`
	downFrom = `select key, value from vms_records where bucket = $1 and key >= $2 and key < $4 order by key desc limit $3`
)

func (b bucket) Range(from, to []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		from, n := nonNil(from), firstLook
		for {
			got := b.look(upAll, upTo, from, to, n)
			for _, r := range got {
				if !yield(r.Key, r.Value) {
					return
				}
			}
			if len(got) < n {
				return
			}
			from, n = append(bytes.Clone(got[n-1].Key), 0), nextLook // the very next key
		}
	}
}

func (b bucket) Backward(from, to []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		to, n := to, firstLook
		for {
			got := b.look(downAll, downFrom, nonNil(from), to, n)
			for _, r := range got {
				if !yield(r.Key, r.Value) {
					return
				}
			}
			if len(got) < n {
				return
			}
			to, n = got[n-1].Key, nextLook
		}
	}
}

type row struct{ Key, Value []byte }

func (b bucket) look(all, bounded string, from, to []byte, n int) []row {
	b.tx.flush()
	sql, args := all, []any{b.name, from, n}
	if to != nil {
		sql, args = bounded, append(args, to)
	}
	rows, err := b.tx.conn.Query(b.tx.ctx, sql, args...)
	must(err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	must(err)
	return list
}

// nonNil is b, empty where it is nil, which PostgreSQL takes for a missing value.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

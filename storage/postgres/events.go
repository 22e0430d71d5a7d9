package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Events is the events, as storage/journal keeps them for the service: without an outbox or untrue
// clocks. Its answers are the journal's, with these differences: an id must be one that is made of
// its event (vms.Event.FitsID), names hold no zero byte, Prune removes whole weeks, also of what a
// cursor has not passed, and a cursor reads an event that changed several times once.
type Events struct {
	db        *DB
	sortAgain time.Time // of Prune, which does not run beside itself

	mu      sync.Mutex // guards cursors
	cursors []*Cursor
}

// Events opens the events, and makes the partitions that are wanted soon.
func (db *DB) Events() (*Events, error) {
	e := &Events{db: db}
	if err := e.makePartitions(); err != nil {
		return nil, fmt.Errorf("open the events: %w", err)
	}
	return e, nil
}

// sealed is an event as a row.
type sealed struct {
	key
	actorType, kind, owner string
	end                    *int64
	body                   []byte
	n                      int64 // its number among those that are put together
}

// key is that of a row. name is what its id has behind the start: the type, and what tells it from
// another one of that type and start.
type key struct {
	Actor string
	Start int64
	Name  string
}

func (k key) id() string {
	return k.Actor + "-" + schema.MSTime(k.Start).UTC().Format(stamp) + "-" + k.Name
}

// stamp is the form of a start in an id.
const stamp = "2006-01-02T15:04:05.000-07:00"

func compareKeys(a, b key) int {
	return cmp.Or(strings.Compare(a.Actor, b.Actor), cmp.Compare(a.Start, b.Start), strings.Compare(a.Name, b.Name))
}

// seal makes the row of an event, or says why it can never be stored.
func seal(ev vms.Event) (sealed, error) {
	ev, body, err := schema.SealChecked(ev)
	switch {
	case err != nil:
		return sealed{}, err
	case !ev.FitsID(ev.ID):
		return sealed{}, fmt.Errorf("%w: its id is not made of its actor, start and type", schema.ErrInvalid)
	case strings.ContainsRune(ev.ID+ev.ActorType+ev.Owner, 0):
		return sealed{}, fmt.Errorf("%w: it has a zero byte in a name", schema.ErrInvalid)
	}
	s := sealed{key: key{ev.ActorID, ev.StartTimestamp.UnixMilli(), ev.ID[len(ev.NaturalID())-len(ev.Type):]},
		actorType: ev.ActorType, kind: ev.Type, owner: ev.Owner, body: body}
	if !ev.Ongoing() {
		end := ev.EndTimestamp.UnixMilli()
		s.end = &end
	}
	return s, nil
}

// upsert stores rows. An event with an owner takes the place of no other owner's.
const upsert = `insert into vms_events as e (actor, start_ms, name, type, actor_type, end_ms, owner, body)
	select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bytea[])
	on conflict (actor, start_ms, name) do update set actor_type = excluded.actor_type, end_ms = excluded.end_ms,
		owner = excluded.owner, body = excluded.body
	where excluded.owner = '' or e.owner in ('', excluded.owner)`

// PutAll stores events in one transaction, as the journal's does: all are stored, or none is. It
// ignores report. Of several with one id the last one stays.
func (e *Events) PutAll(events []vms.Event, _ bool) error {
	rows := make([]sealed, len(events))
	for i, ev := range events {
		var err error
		if rows[i], err = seal(ev); err != nil {
			return fmt.Errorf("put event %q: %w", ev.ID, err)
		}
		rows[i].n = int64(i)
	}
	// In one order, so that two batches wait for one another and neither for both; and unique.
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b sealed) int { return compareKeys(a.key, b.key) })
	rows = slices.CompactFunc(rows, func(a, b sealed) bool { return a.key == b.key })
	if len(rows) == 0 {
		return nil
	}
	if len(events) > mostAtOnce {
		return fmt.Errorf("put %d events: at most %d fit into one transaction", len(events), mostAtOnce)
	}
	err := e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error { return e.put(ctx, conn, rows) })
	e.tell() // also if it is not known whether they were stored
	if err != nil {
		return fmt.Errorf("put %d events: %w", len(events), err)
	}
	return nil
}

// put stores rows in a transaction, and notes them for cursors.
func (e *Events) put(ctx context.Context, conn *pgx.Conn, rows []sealed) error {
	var actors, names, kinds, actorTypes, owners []string
	var starts, numbers []int64
	var ends []*int64
	var bodies [][]byte
	for _, r := range rows {
		actors, starts, names = append(actors, r.Actor), append(starts, r.Start), append(names, r.Name)
		kinds, actorTypes, ends = append(kinds, r.kind), append(actorTypes, r.actorType), append(ends, r.end)
		owners, bodies, numbers = append(owners, r.owner), append(bodies, r.body), append(numbers, r.n)
	}
	batch := &pgx.Batch{}
	batch.Queue(upsert, actors, starts, names, kinds, actorTypes, ends, owners, bodies)
	batch.Queue(follow, actors, starts, names, numbers, e.db.opts.Now().UnixMilli())
	results := conn.SendBatch(ctx, batch)
	tag, err := results.Exec()
	if other := results.Close(); err == nil {
		err = other
	}
	if err == nil && tag.RowsAffected() != int64(len(rows)) {
		return refuse(vms.ErrOwned)
	}
	return err
}

// read runs a transaction that sees one state of everything.
func (e *Events) read(do func(context.Context, *pgx.Conn) error) error {
	return plain(e.db.run(readOnly, do))
}

var startInID = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00-`)

// keysOf are the keys that an id may be of: one, unless a name has the form of a time in it.
func keysOf(id string) (actors []string, starts []int64, names []string) {
	for _, at := range startInID.FindAllStringIndex(id, -1) {
		start, err := vms.ParseTime(id[at[0]+1 : at[1]-1])
		if err == nil && !strings.ContainsRune(id, 0) {
			actors, starts = append(actors, id[:at[0]]), append(starts, start.UnixMilli())
			names = append(names, id[at[1]:])
		}
	}
	return actors, starts, names
}

// Get is the event of that id, or journal.ErrNotFound.
func (e *Events) Get(id string) (ev vms.Event, err error) {
	actors, starts, names := keysOf(id)
	if len(actors) == 0 {
		return vms.Event{}, fmt.Errorf("get event %q: %w", id, journal.ErrNotFound)
	}
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		list, err := events(ctx, conn, `select e.body from unnest($1::text[], $2::bigint[], $3::text[]) k (actor, start_ms, name)
			join vms_events e using (actor, start_ms, name)`, actors, starts, names)
		if err == nil && len(list) == 0 {
			return journal.ErrNotFound
		}
		if err == nil {
			ev = list[0]
		}
		return err
	})
	if err != nil {
		return vms.Event{}, fmt.Errorf("get event %q: %w", id, err)
	}
	return ev, nil
}

// events reads those that a query for bodies finds.
func events(ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]vms.Event, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (vms.Event, error) {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return vms.Event{}, err
		}
		ev, _, err := schema.ReadEvent(nil, body)
		return ev, err
	})
}

// OngoingOf is the events of these actors that have not ended, in no particular order.
func (e *Events) OngoingOf(actors ...vms.Actor) (list []vms.Event, err error) {
	ids, types := namesOf(actors)
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		list, err = events(ctx, conn, `select e.body from unnest($1::text[], $2::text[]) a (actor, actor_type)
			join vms_events e using (actor, actor_type) where e.end_ms is null`, ids, types)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events of %d actors: %w", len(actors), err)
	}
	return list, nil
}

// namesOf are the ids and types of actors, each once, without those that nobody can have.
func namesOf(actors []vms.Actor) (ids, types []string) {
	ids, types = []string{}, []string{}
	seen := map[vms.Actor]bool{}
	for _, a := range actors {
		a = vms.Actor{Type: a.Type, ID: a.ID}
		if !seen[a] && storable(a.ID) && storable(a.Type) {
			ids, types = append(ids, a.ID), append(types, a.Type)
		}
		seen[a] = true
	}
	return ids, types
}

// Unfinished is all events without an end, by id.
func (e *Events) Unfinished() (list []journal.Ongoing, err error) {
	var open []vms.Event
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		open, err = events(ctx, conn, `select body from vms_events where end_ms is null`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events: %w", err)
	}
	for _, ev := range open {
		list = append(list, journal.Ongoing{Event: ev, Last: ev.StartTimestamp.Time})
	}
	slices.SortFunc(list, func(a, b journal.Ongoing) int { return strings.Compare(a.Event.ID, b.Event.ID) })
	return list, nil
}

// Empty reports whether there is no event.
func (e *Events) Empty() (empty bool, err error) {
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select not exists (select from vms_events)`).Scan(&empty)
	})
	return empty, err
}

// metaBucket holds the owner's small values.
const metaBucket = "events/meta"

// SetMeta stores a small value of the owner's, durably; an empty value removes it. The key has at
// most 1,024 bytes, the value at most 64 KiB.
func (e *Events) SetMeta(key string, value []byte) error {
	if key == "" || len(key) > 1024 || len(value) > 64<<10 {
		return fmt.Errorf("set meta %q: key of %d bytes and value of %d bytes: the limits are 1 to 1024 and 65536",
			key, len(key), len(value))
	}
	err := e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		t := &transaction{ctx: ctx, conn: conn}
		b := t.Bucket(metaBucket)
		return guarded(func() error {
			if len(value) == 0 {
				_ = b.Delete([]byte(key)) // it is sent below
			} else if err := b.Put([]byte(key), value); err != nil {
				return err
			}
			t.flush()
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("set meta %q: %w", key, err)
	}
	return nil
}

// Meta is what SetMeta stored, nil if nothing.
func (e *Events) Meta(key string) (value []byte, err error) {
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		t := &transaction{ctx: ctx, conn: conn}
		return guarded(func() error { value = t.Bucket(metaBucket).Get([]byte(key)); return nil })
	})
	if err != nil {
		return nil, fmt.Errorf("read meta %q: %w", key, err)
	}
	return value, nil
}

// MetaKeys are the keys of the owner's small values.
func (e *Events) MetaKeys() (keys []string, err error) {
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		t := &transaction{ctx: ctx, conn: conn}
		keys = nil
		return guarded(func() error {
			for k := range t.Bucket(metaBucket).Range(nil, nil) {
				keys = append(keys, string(k))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of metas: %w", err)
	}
	return keys, nil
}

// Walk reads all events, by actor and start, at most n at a time: those behind what an earlier call
// returned as next, "" for the first ones. next is "" at the end.
func (e *Events) Walk(after string, n int) (list []vms.Event, next string, err error) {
	var at key
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return nil, "", fmt.Errorf("walk the events: the place: %w", err)
		}
	}
	var last key
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
		if list, err = events(ctx, conn, `select body from vms_events where (actor, start_ms, name) > ($1, $2, $3)
			order by actor, start_ms, name limit $4`, at.Actor, at.Start, at.Name, n); err != nil || len(list) < n {
			return err
		}
		s, err := seal(list[n-1])
		last = s.key
		return err
	})
	if err != nil || len(list) < n {
		return list, "", err
	}
	text, err := json.Marshal(last)
	return list, string(text), err
}

// Forget removes the events of the actors that gone names, ongoing ones too, and returns how many.
// It asks once for each actor that has events.
func (e *Events) Forget(gone func(vms.Actor) bool) (total int, err error) {
	var after vms.Actor
	for {
		var next vms.Actor
		err := e.read(func(ctx context.Context, conn *pgx.Conn) error {
			err := conn.QueryRow(ctx, `select actor, actor_type from vms_events where actor > $1
				order by actor limit 1`, after.ID).Scan(&next.ID, &next.Type)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
		if err == nil && next.ID == "" {
			return total, nil
		}
		if err == nil && gone(next) {
			var n int64
			err = e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
				tag, err := conn.Exec(ctx, `delete from vms_events where actor = $1`, next.ID)
				n = tag.RowsAffected()
				return err
			})
			total += int(n)
		}
		if err != nil {
			return total, fmt.Errorf("forget events: %w", err)
		}
		after = next
	}
}

// Close does nothing: the DB is closed by whoever opened it.
func (e *Events) Close() error { return nil }

// Failing is the DB's.
func (e *Events) Failing() error { return e.db.Failing() }

// Probe is the DB's.
func (e *Events) Probe() error { return e.db.Probe() }

// Doubtful is the DB's.
func (e *Events) Doubtful() bool { return e.db.Doubtful() }

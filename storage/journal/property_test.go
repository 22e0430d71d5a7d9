package journal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// model is the journal as plain slices and maps.
type model struct {
	events map[string]vms.Event
	last   map[string]time.Time // ongoing
	queue  []modelEntry
	parked map[string]ParkedEntry
}

type modelEntry struct {
	id    string
	since time.Time
}

func (m *model) waiting(id string) int {
	return slices.IndexFunc(m.queue, func(e modelEntry) bool { return e.id == id })
}

func (m *model) put(ev vms.Event, report bool, now time.Time) {
	m.events[ev.ID] = ev
	if !ev.Ongoing() {
		delete(m.last, ev.ID)
	} else if _, ok := m.last[ev.ID]; !ok {
		m.last[ev.ID] = ev.StartTimestamp.Time
	}
	if report {
		delete(m.parked, ev.ID)
		if m.waiting(ev.ID) < 0 {
			m.queue = append(m.queue, modelEntry{ev.ID, now})
		}
	}
}

// subject is the journal beside its model.
type subject struct {
	t     *rapid.T
	path  string
	j     *Journal
	m     model
	now   time.Time
	steps int
}

func (s *subject) open() {
	j, err := Open(s.path, Options{Now: func() time.Time { return s.now }})
	require.NoError(s.t, err)
	require.Nil(s.t, j.Damage())
	s.j = j
}

var (
	someActors = []string{"cam1", "cam2", "cam2\x00", "ca"}
	someTypes  = []string{vms.TypeMotion, vms.TypeTamper, "x"}
)

// drawTime is one of few times, so that ties and bounds are hit; also before 1970.
func drawTime(t *rapid.T, label string) vms.Time {
	ms := rapid.Int64Range(-4, 12).Draw(t, label)
	return vms.At(time.UnixMilli(ms * 250))
}

func drawEvent(t *rapid.T) vms.Event {
	ev := sample.Event(rapid.SampledFrom(someActors).Draw(t, "actor"), 0, 0)
	ev.ActorType = rapid.SampledFrom([]string{"camera", "bridge"}).Draw(t, "actor type")
	ev.Type = rapid.SampledFrom(someTypes).Draw(t, "type")
	ev.StartTimestamp, ev.EndTimestamp = drawTime(t, "start"), nil
	if rapid.Bool().Draw(t, "ended") {
		ev.EndTimestamp = vms.Ptr(
			ev.StartTimestamp.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "length")) * 250 * time.Millisecond))
	}
	// Some ids stay when everything else changes.
	if rapid.Bool().Draw(t, "natural") {
		ev.ID = ev.NaturalID()
	} else {
		ev.ID = rapid.SampledFrom([]string{"a", "a\x00", "b", "ü/?"}).Draw(t, "id")
	}
	return ev
}

func drawQuery(t *rapid.T) vms.Query {
	var q vms.Query
	if rapid.IntRange(0, 2).Draw(t, "by actor") == 0 {
		for _, a := range rapid.SliceOfN(rapid.SampledFrom(someActors), 0, 3).Draw(t, "actors") {
			q.Actors = append(q.Actors, vms.Actor{Type: "camera", ID: a})
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "by type") == 0 {
		q.Types = rapid.SliceOfN(rapid.SampledFrom(someTypes), 0, 2).Draw(t, "types")
	}
	for label, bound := range map[string]**vms.Time{"start gte": &q.StartGTE, "start lte": &q.StartLTE,
		"end gte": &q.EndGTE, "end lte": &q.EndLTE} {
		if rapid.IntRange(0, 3).Draw(t, "has "+label) == 0 {
			v := drawTime(t, label)
			*bound = &v
		}
	}
	q.Open = rapid.Bool().Draw(t, "open")
	q.Ascending = rapid.Bool().Draw(t, "ascending")
	q.PageSize = rapid.IntRange(1, 4).Draw(t, "page size")
	return q
}

func (s *subject) id(t *rapid.T) string {
	ids := []string{"unknown", ""}
	for id := range s.m.events {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(t, "id")
}

func (s *subject) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"put": func(t *rapid.T) {
			for range rapid.IntRange(1, 12).Draw(t, "events") {
				ev, report := drawEvent(t), rapid.Bool().Draw(t, "report")
				require.NoError(t, s.j.Put(ev, report))
				s.m.put(ev, report, s.now)
			}
		},
		"end": func(t *rapid.T) {
			if ev, ok := s.m.events[s.id(t)]; ok {
				ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Second))
				require.NoError(t, s.j.Put(ev, true))
				s.m.put(ev, true, s.now)
			}
		},
		"ack or park": s.leave,
		"retry": func(t *rapid.T) {
			id := s.id(t)
			err := s.j.Retry(id)
			if _, ok := s.m.parked[id]; !ok {
				require.ErrorIs(t, err, ErrNotFound)
				return
			}
			require.NoError(t, err)
			delete(s.m.parked, id)
			s.m.queue = append(s.m.queue, modelEntry{id, s.now})
		},
		"drop": func(t *rapid.T) {
			id := s.id(t)
			err := s.j.Drop(id)
			_, parked := s.m.parked[id]
			i := s.m.waiting(id)
			if !parked && i < 0 {
				require.ErrorIs(t, err, ErrNotFound)
				return
			}
			require.NoError(t, err)
			delete(s.m.parked, id)
			if i >= 0 {
				s.m.queue = slices.Delete(s.m.queue, i, i+1)
			}
		},
		"touch": func(t *rapid.T) {
			id, at := s.id(t), drawTime(t, "touch")
			require.NoError(t, touch(s.j, id, at.Time))
			if noted, ok := s.m.last[id]; ok && at.After(noted) {
				s.m.last[id] = at.Time
			}
		},
		"prune": s.prune,
		"list": func(t *rapid.T) {
			for range 5 {
				s.list(t)
			}
		},
		"reopen": func(t *rapid.T) {
			require.NoError(t, s.j.Close())
			s.open()
		},
		"later": func(*rapid.T) { s.now = s.now.Add(time.Minute) },
		"":      s.check,
	}
}

// leave acknowledges or parks the entry of an id, with the right revision or a wrong one.
func (s *subject) leave(t *rapid.T) {
	if len(s.m.queue) == 0 {
		t.Skip("nothing waits")
	}
	i := rapid.IntRange(0, len(s.m.queue)-1).Draw(t, "entry")
	entries, err := s.j.Peek(i + 1)
	require.NoError(t, err)
	e := entries[i]
	stale := rapid.Bool().Draw(t, "stale")
	if stale {
		e.Revision--
	}
	if rapid.Bool().Draw(t, "ack") {
		require.NoError(t, ack(s.j, e.Event.ID, e.Revision))
	} else {
		require.NoError(t, s.j.Park(e.Event.ID, e.Revision, "reason"))
		if !stale {
			s.m.parked[e.Event.ID] = ParkedEntry{Event: e.Event, Reason: "reason", At: s.now, Since: e.Since}
		}
	}
	if !stale {
		s.m.queue = slices.Delete(s.m.queue, i, i+1)
	}
}

func (s *subject) prune(t *rapid.T) {
	// Often the very millisecond at which an event ends.
	before := drawTime(t, "before")
	want := 0
	for id, ev := range s.m.events {
		_, parked := s.m.parked[id]
		if ev.EndTimestamp != nil && ev.EndTimestamp.Before(before.Time) && !parked && s.m.waiting(id) < 0 {
			delete(s.m.events, id)
			want++
		}
	}
	n, err := s.j.Prune(Retention{Before: before.Time})
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// list pages through a query to its end and back.
func (s *subject) list(t *rapid.T) {
	q := drawQuery(t)
	want := sample.Matching(s.m.events, q)
	var pages [][]vms.Event
	var got []vms.Event
	var c *vms.Cursor
	for {
		page, err := s.j.List(q, c)
		require.NoError(t, err)
		require.Equal(t, len(want), page.Total)
		require.LessOrEqual(t, len(page.Events), q.PageSize)
		require.Equal(t, c != nil, page.Prev != nil, "the first page has no previous one, all others do")
		pages, got = append(pages, page.Events), append(got, page.Events...)
		if page.Next == nil {
			c = page.Prev
			break
		}
		require.Len(t, page.Events, q.PageSize)
		c = page.Next
	}
	require.Equal(t, want, append([]vms.Event{}, got...))
	for i := len(pages) - 2; i >= 0; i-- {
		page, err := s.j.List(q, c)
		require.NoError(t, err)
		require.Equal(t, pages[i], page.Events)
		require.NotNil(t, page.Next)
		require.Equal(t, i > 0, page.Prev != nil)
		c = page.Prev
	}
}

// check compares everything with the model.
func (s *subject) check(t *rapid.T) {
	if s.steps++; s.steps%8 == 0 { // reading the whole file takes longer than all else
		s.inspect(t)
	}
	for id, want := range s.m.events {
		got, err := s.j.Get(id)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	entries, err := s.j.Peek(1000)
	require.NoError(t, err)
	var queue []modelEntry
	for _, e := range entries {
		require.Equal(t, s.m.events[e.Event.ID], e.Event)
		queue = append(queue, modelEntry{e.Event.ID, e.Since})
	}
	require.Equal(t, append([]modelEntry(nil), s.m.queue...), queue)
	parked, err := s.j.Parked()
	require.NoError(t, err)
	require.Len(t, parked, len(s.m.parked))
	for _, p := range parked {
		want := s.m.parked[p.Event.ID]
		want.Event = s.m.events[p.Event.ID]
		require.Equal(t, want, p)
	}
	unfinished, err := s.j.Unfinished()
	require.NoError(t, err)
	require.Len(t, unfinished, len(s.m.last))
	for _, o := range unfinished {
		require.True(t, s.m.last[o.Event.ID].Equal(o.Last), "%s: %s", o.Event.ID, o.Last)
	}
	stats, err := s.j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, len(s.m.queue), stats.Waiting)
	require.Equal(t, len(s.m.parked), stats.Parked)
	var oldest time.Time
	if len(s.m.queue) > 0 {
		oldest = s.m.queue[0].since
	}
	require.Equal(t, oldest, stats.Oldest)
}

func (s *subject) inspect(t *rapid.T) {
	r, err := s.j.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.Equal(t, len(s.m.events), r.Events)
	require.NoError(t, s.j.file.View(func(tx *bolt.Tx) error { // by which a large file opens at once
		waiting, parked := schema.Noted(tx)
		if r.Events > 0 {
			require.Equal(t, []int{len(s.m.queue), len(s.m.parked)}, []int{waiting, parked})
		}
		return nil
	}))
}

// TestAgainstModel compares whole lives; scripts/torture journal does it for as long as one likes.
func TestAgainstModel(t *testing.T) { compareLives(t, 50) }

// compareLives compares so many. Rapid knows their number and seed by flags only.
func compareLives(t *testing.T, lives int) {
	sample.Lives(t, lives)
	dir := sample.Memory(t) // no crash here, and thousands of steps
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		require.NoError(t, err)
		defer os.RemoveAll(sub)
		s := &subject{t: t, path: filepath.Join(sub, "journal.db"), now: sample.Epoch,
			m: model{events: map[string]vms.Event{}, last: map[string]time.Time{}, parked: map[string]ParkedEntry{}}}
		s.open()
		defer func() { require.NoError(t, s.j.Close()) }()
		t.Repeat(s.actions())
		s.inspect(t)
	})
}

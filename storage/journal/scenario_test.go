package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// scenario is a life of a journal, the same for the same seed: everything that changes one, in any
// order.
type scenario struct {
	path string
	rng  *rand.Rand
	j    *Journal
	now  time.Time
	ids  []string
	n    int

	cursors []*Cursor // nil: not opened since the file was
	careful bool      // see file.Options
}

func newScenario(path string, seed uint64) *scenario {
	return &scenario{path: path, rng: rand.New(rand.NewPCG(seed, 1)), now: sample.Epoch}
}

func (s *scenario) open() (err error) {
	s.cursors = nil
	s.j, err = Open(s.path, Options{Now: func() time.Time { return s.now }, file: watched(s.careful)})
	return err
}

// watched has all work of a journal done by its callers, since a witness sees one goroutine, and
// checkpoints often.
func watched(careful bool) func(*file.Options) {
	return func(o *file.Options) {
		o.Careful, o.Beside, o.CheckpointBytes = careful, func(func()) {}, 32<<10
	}
}

// step does one thing and says what.
func (s *scenario) step() (string, error) {
	s.now = s.now.Add(time.Second)
	s.n++
	if s.cursors == nil && s.n > 1 {
		return s.follow()
	}
	switch n := s.rng.IntN(23); {
	case n < 8 || len(s.ids) == 0:
		ev := s.event()
		s.ids = append(s.ids, ev.ID)
		return "put " + ev.ID, s.j.Put(ev, s.rng.IntN(4) > 0)
	case n < 11:
		ev, err := s.j.Get(s.ids[s.rng.IntN(len(s.ids))])
		if err != nil {
			return "get", nil // pruned
		}
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Duration(s.n) * time.Minute))
		return "end " + ev.ID, s.j.Put(ev, true)
	case n < 16:
		return s.settle(n)
	case n == 16:
		_, err := s.j.Prune(Retention{Keep: 10})
		return "prune", err
	case n == 17:
		return "meta", s.j.SetMeta("count", []byte(strconv.Itoa(s.n)))
	case n == 18:
		_, err := s.j.file.Compact(s.context())
		return "compact", err
	case n < 22:
		return s.follow()
	}
	if err := s.j.Close(); err != nil {
		return "close", err
	}
	return "reopen", s.open()
}

// follow opens the cursors, and then moves one of them.
func (s *scenario) follow() (what string, err error) {
	if s.cursors == nil {
		s.cursors, err = s.j.Cursors("x", "y")
		return "follow", err
	}
	c := s.cursors[s.rng.IntN(2)]
	if s.rng.IntN(4) == 0 {
		_, err := c.Trim(1+s.rng.IntN(6), time.Time{})
		return "trim " + c.Name(), err
	}
	list, err := c.Read(0, 1+s.rng.IntN(4))
	if err != nil || len(list) == 0 {
		return "read " + c.Name(), err
	}
	return "pass " + c.Name(), c.Advance(list[len(list)-1].Place)
}

// settle does something about an event that waits or is parked.
func (s *scenario) settle(n int) (string, error) {
	entries, err := s.j.Peek(1)
	if err != nil || len(entries) == 0 {
		return "peek", err
	}
	e := entries[0]
	switch n {
	case 11:
		return "park " + e.Event.ID, s.j.Park(e.Event.ID, e.Revision, "refused")
	case 12:
		if parked, _ := s.j.Parked(); len(parked) > 0 {
			return "retry", s.j.Retry(parked[0].Event.ID)
		}
	case 13:
		return "drop " + e.Event.ID, s.j.Drop(e.Event.ID)
	}
	return "ack " + e.Event.ID, ack(s.j, e.Event.ID, e.Revision)
}

func (s *scenario) event() vms.Event {
	start := time.Duration(s.n) * time.Second
	ev := sample.Event(fmt.Sprint("cam", s.rng.IntN(3)), start, start+time.Duration(s.rng.IntN(1e6))*time.Millisecond)
	if s.rng.IntN(3) == 0 {
		ev.EndTimestamp = nil
	}
	if s.rng.IntN(6) == 0 { // one that needs pages of its own
		d, _ := vms.MakeData(map[string]any{"type": "vms.test.v1", "creatorId": "x",
			"text": strings.Repeat("x", s.rng.IntN(20_000))})
		ev.SetData(d)
	}
	return ev
}

// dump is everything a journal holds, as text.
func dump(t require.TestingT, j *Journal) string {
	var b strings.Builder
	page, err := j.List(vms.Query{PageSize: MaxPageSize, Ascending: true}, nil)
	require.NoError(t, err)
	for _, ev := range page.Events {
		text, err := json.Marshal(ev)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n", text)
	}
	entries, err := j.Peek(1 << 30)
	require.NoError(t, err)
	for _, e := range entries {
		fmt.Fprintln(&b, "waiting", e.Event.ID, e.Revision, e.Since)
	}
	parked, err := j.Parked()
	require.NoError(t, err)
	for _, p := range parked {
		fmt.Fprintln(&b, "parked", p.Event.ID, p.Reason, p.At)
	}
	open, err := j.Unfinished()
	require.NoError(t, err)
	for _, o := range open {
		fmt.Fprintln(&b, "ongoing", o.Event.ID, o.Last)
	}
	v, err := j.Meta("count")
	require.NoError(t, err)
	s, err := j.OutboxStats()
	require.NoError(t, err)
	fmt.Fprintln(&b, "meta", string(v), s.Events, s.Waiting, s.Parked)
	require.NoError(t, j.file.View(func(tx *bolt.Tx) error {
		known, err := schema.Cursors(tx)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			fmt.Fprintf(&b, "cursor %q %+v\n", name, known[name])
		}
		return errors.Join(err, guard.Bucket(tx, schema.Changes).ForEach(func(k, v []byte) error {
			var e schema.Change
			err := e.Read(v)
			fmt.Fprintf(&b, "change %x %v %+v\n", k, err, e)
			return nil
		}))
	}))
	require.Equal(t, []int{len(page.Events), len(entries), len(parked)}, []int{s.Events, s.Waiting, s.Parked})
	return b.String()
}

func shortened(s string, n int) string { return s[:min(n, len(s))] }

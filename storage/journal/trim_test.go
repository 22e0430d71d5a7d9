package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// gapEvent is the event that tells of what is missing.
func gapEvent(m Missing) vms.Event {
	ev := vms.Event{Type: vms.TypeDeviceStatus, StartTimestamp: m.Start, EndTimestamp: vms.Ptr(m.To.Time), Span: true,
		AccountID: "acc-1", ActorID: "bridge-1", ActorType: vms.ActorBridge, ActorAccountID: "acc-1",
		CreatorID: vms.CreatorHealth}
	ev.SetData(vms.CreatorDetails(vms.CreatorHealth,
		vms.CreatorInfo{ID: "b", Vendor: "v", Reason: fmt.Sprintf("%d events", m.Events)}))
	ev.ID = ev.NaturalID()
	return ev
}

// outboxIDs is what waits, in order.
func outboxIDs(t *testing.T, j *Journal) (ids []string, bytes int64) {
	t.Helper()
	entries, err := j.Peek(1 << 20)
	require.NoError(t, err)
	for _, e := range entries {
		ids = append(ids, e.Event.ID)
	}
	p, err := j.surveyOutbox(Caps{})
	require.NoError(t, err)
	return ids, p.total
}

func TestTrimDropsTheLeastWorthFirst(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{})
	put := func(kind string, start, took time.Duration) string {
		ev := sample.Event("cam0", start, start+took)
		ev.Type = kind
		if took < 0 {
			ev.EndTimestamp = nil
		}
		ev.ID = ev.NaturalID()
		require.NoError(t, j.Put(ev, true))
		return ev.ID
	}
	var valuable, long []string
	ongoing := put(vms.TypeMotion, 0, -1)
	for i := range 200 {
		at := time.Duration(i+1) * time.Minute
		put(vms.TypeMotion, at, time.Second)
		if i%10 == 0 {
			valuable = append(valuable, put(vms.TypeDeviceStatus, at+10*time.Second, time.Second),
				put(vms.TypeTamper, at+20*time.Second, time.Second))
		}
		if i%4 == 0 {
			long = append(long, put(vms.TypeMotion, at+30*time.Second, 20*time.Second))
		}
	}
	_, total := outboxIDs(t, j)
	n, err := j.Trim(Caps{MaxBytes: 2 * total}, gapEvent)
	require.NoError(t, err)
	require.Zero(t, n, "there is room")

	n, err = j.Trim(Caps{MaxBytes: total}, gapEvent) // the reserve is touched: an eighth goes, and an eighth more
	require.NoError(t, err)
	require.Positive(t, n)
	ids, left := outboxIDs(t, j)
	require.LessOrEqual(t, left, total*3/4+4096)
	require.Subset(t, ids, append(append([]string{ongoing}, valuable...), long...),
		"only short motion goes as long as there is some")
	gap := ids[len(ids)-1]
	require.Contains(t, gap, "bridge-1-")

	// More goes: the same event tells of all of it, also after a restart. Then it is the long ones'
	// turn, and nothing else.
	require.NoError(t, j.Close())
	j = open(t, path, Options{})
	more, err := j.Trim(Caps{MaxBytes: total / 3}, gapEvent)
	require.NoError(t, err)
	require.Positive(t, more)
	ids, _ = outboxIDs(t, j)
	require.Subset(t, ids, append([]string{ongoing, gap}, valuable...))
	told, err := j.Get(gap)
	require.NoError(t, err)
	var info vms.CreatorInfo
	require.NoError(t, told.Data[0].Into(&info))
	require.Equal(t, fmt.Sprintf("%d events", n+more), info.Reason)
	stats, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 1+len(valuable)+200+len(long)+1, stats.Events, "given up, but not forgotten")
	require.Equal(t, len(ids), stats.Waiting)

	// Once the service knows of the gap, the next one is another.
	entries, err := j.Peek(1 << 20)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Event.ID == gap {
			require.NoError(t, ack(j, gap, e.Revision))
		}
	}
	last, err := j.Trim(Caps{MaxBytes: 1}, gapEvent)
	require.NoError(t, err)
	require.Positive(t, last)
	ids, _ = outboxIDs(t, j)
	require.Len(t, ids, 2, "what goes on stays, whatever it costs, and the gap is told: %v", ids)
	require.Equal(t, ongoing, ids[0])
}

func TestTrimByAge(t *testing.T) {
	now := sample.Epoch
	j := open(t, sample.Path(t), Options{Now: func() time.Time { return now }})
	for i := range 1200 { // more than a batch
		require.NoError(t,
			j.Put(sample.Event("cam0", time.Duration(i)*time.Minute, time.Duration(i)*time.Minute+time.Second), true))
		now = now.Add(time.Minute)
	}
	n, err := j.Trim(Caps{Before: sample.Epoch}, gapEvent)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = j.Trim(Caps{Before: sample.Epoch.Add(1100 * time.Minute)}, gapEvent)
	require.NoError(t, err)
	require.Equal(t, 1100, n)
	ids, _ := outboxIDs(t, j)
	require.Len(t, ids, 101)
	require.Equal(t, sample.Event("cam0", 1100*time.Minute, 1100*time.Minute).ID, ids[0])
}

// The tally that decides whether to look at all stays right whatever happens to entries.
func TestTrimTally(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	for i := range 20 {
		require.NoError(t, j.Put(sample.Event("cam0", time.Duration(i)*time.Minute, time.Duration(i+1)*time.Minute),
			true))
	}
	_, err := j.Trim(Caps{MaxBytes: 1 << 30}, gapEvent)
	require.NoError(t, err)
	_, total := outboxIDs(t, j)
	j.outboxBytes.Store(total)
	entries, err := j.Peek(20)
	require.NoError(t, err)
	longer := entries[0].Event
	longer.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v", Reason: "a longer one"}))
	require.NoError(t, j.Put(longer, true))
	require.NoError(t, j.Put(entries[1].Event, false))
	require.NoError(t, j.Park(entries[2].Event.ID, entries[2].Revision, "no"))
	require.NoError(t, j.Park(entries[3].Event.ID, entries[3].Revision, "no"))
	require.NoError(t, j.Retry(entries[3].Event.ID))
	require.NoError(t, j.Drop(entries[4].Event.ID))
	_, err = j.AckAll(entries[5:9])
	require.NoError(t, err)
	require.NoError(t, j.Put(sample.Event("cam1", 0, time.Minute), false))
	_, total = outboxIDs(t, j)
	require.Equal(t, total, j.outboxBytes.Load())
}

package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
)

func TestQueueDropsToTheNextRandomAccessPointButKeepsStates(t *testing.T) {
	dropped := 0
	q := newQueue(func(n int) { dropped += n })
	q.PutUnit(camera.AccessUnit{RandomAccess: true})
	q.PutStatus(camera.Status{State: camera.Online})
	for range maxQueuedUnits {
		q.PutUnit(camera.AccessUnit{})
	}
	// The unit that found the queue full emptied it; it and those after it wait for a random access
	// point.
	require.EqualValues(t, maxQueuedUnits+1, dropped)
	q.PutUnit(camera.AccessUnit{})
	q.PutUnit(camera.AccessUnit{RandomAccess: true, Width: 7})
	q.PutUnit(camera.AccessUnit{Width: 8})

	it, ok := q.TryGet()
	require.True(t, ok)
	require.Equal(t, camera.Online, it.status.State)
	for _, want := range []int{7, 8} {
		it, ok = q.TryGet()
		require.True(t, ok)
		require.Equal(t, want, it.unit.Width)
	}
	_, ok = q.TryGet()
	require.False(t, ok)
	require.EqualValues(t, maxQueuedUnits+2, dropped)
}

func TestQueueBoundsItsBytes(t *testing.T) {
	dropped := 0
	q := newQueue(func(n int) { dropped += n })
	for range 10 {
		q.PutUnit(camera.AccessUnit{RandomAccess: true, Data: make([]byte, maxQueuedBytes/3)})
		require.LessOrEqual(t, q.bytes, maxQueuedBytes)
	}
	require.EqualValues(t, 9, dropped)
}

func TestQueueBeginsAnewWhereItDroppedTheBeginning(t *testing.T) {
	counted := 0
	q := newQueue(func(n int) { counted += n })
	// the camera came back with another codec
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true, NewStream: true})
	for range maxQueuedUnits {
		q.PutUnit(camera.AccessUnit{Codec: camera.H265})
	}
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true})
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true})
	it, ok := q.TryGet()
	require.True(t, ok)
	require.True(t, it.unit.NewStream, "the decoder of the old codec would get the new one's units")
	it, ok = q.TryGet()
	require.True(t, ok)
	require.False(t, it.unit.NewStream)
	require.Equal(t, maxQueuedUnits+1, counted, "each drop is counted in the metrics")
}

// Drops that go on are told with their share; a single time that the decoder was behind is not, nor
// what is long past.
func TestQueueTellsPersistentDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped := 0
		q := newQueue(func(n int) { dropped += n })
		second := func(decoded bool) {
			units := 10
			if !decoded {
				units = maxQueuedUnits + 1 // the last one finds no room
			}
			for range units {
				q.PutUnit(camera.AccessUnit{RandomAccess: true})
				if decoded {
					_, ok := q.TryGet()
					require.True(t, ok)
				}
			}
			for ok := true; ok; {
				_, ok = q.TryGet()
			}
			time.Sleep(time.Second)
		}
		for range 60 {
			second(true)
		}
		losing := func() float64 {
			dropped, torn := q.Losing(time.Now())
			require.Zero(t, torn)
			return dropped
		}
		require.Zero(t, losing())
		second(false)
		require.Zero(t, losing(), "it was behind once")
		for range 30 {
			second(false)
		}
		require.Greater(t, losing(), 0.05)
		for range 70 {
			second(true)
		}
		require.Zero(t, losing(), "it is over")
	})
}

// How many pictures come a second is told once that is known, and no more when none come.
func TestQueueTellsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(func(int) {})
		stream := func(span, step time.Duration) {
			for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(step) {
				q.PutUnit(camera.AccessUnit{RandomAccess: true})
				_, ok := q.TryGet()
				require.True(t, ok)
			}
		}
		require.Zero(t, q.Rate(time.Now()))
		time.Sleep(4 * time.Second)
		stream(3*time.Second, 100*time.Millisecond)
		require.Zero(t, q.Rate(time.Now()), "not known yet")
		stream(20*time.Second, 100*time.Millisecond)
		require.InDelta(t, 10, q.Rate(time.Now()), 0.1)
		stream(100*time.Second, 40*time.Millisecond)
		require.InDelta(t, 25, q.Rate(time.Now()), 0.1)
		time.Sleep(20 * time.Second)
		require.Zero(t, q.Rate(time.Now()), "it is over")
		stream(30*time.Second, 500*time.Millisecond)
		require.InDelta(t, 2, q.Rate(time.Now()), 0.1)
	})
}

// Pictures that miss packets are told with their share where that goes on; a loss now and then is
// not, nor one that is long past.
func TestQueueTellsPersistentLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(func(int) {})
		group := func(damaged int) float64 { // two seconds of a stream
			for i := range 20 {
				q.PutUnit(camera.AccessUnit{RandomAccess: i == 0, Damaged: i >= 20-damaged})
				_, ok := q.TryGet()
				require.True(t, ok)
				time.Sleep(100 * time.Millisecond)
			}
			dropped, torn := q.Losing(time.Now())
			require.Zero(t, dropped)
			return torn
		}
		for i := range 90 {
			require.Zero(t, group(19*(i%15/14)), "a packet in half a minute")
		}
		for range 29 {
			group(5)
		}
		require.InDelta(t, 0.25, group(5), 0.02)
		for range 35 {
			group(0)
		}
		require.Zero(t, group(0), "it is over")
	})
}

// While units may wait, the reader is woken for two at once where they come ten times a second. A
// keyframe, a change of state and the units of a slow stream wait for nothing, and no unit for
// long.
func TestQueueIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped := 0
		q := newQueue(func(n int) { dropped += n })
		begun := time.Now()
		put := func(ms int, key bool) {
			time.Sleep(time.Until(begun.Add(time.Duration(ms) * time.Millisecond)))
			q.PutUnit(camera.AccessUnit{Time: begun.Add(time.Duration(ms) * time.Millisecond), RandomAccess: key})
		}
		woken := func() (units int) {
			select {
			case <-q.wake:
			default:
				return 0
			}
			for {
				it, ok := q.TryGet()
				if !ok {
					return units
				}
				if it.status == nil {
					units += len(q.Follow([]camera.AccessUnit{it.unit}, 3))
				}
			}
		}
		q.Patient(true)
		put(0, true)
		require.Equal(t, 1, woken(), "a keyframe")
		for _, ms := range []int{100, 300, 500} {
			put(ms, false)
			require.Zero(t, woken())
			put(ms+100, false)
			require.Equal(t, 2, woken())
		}
		put(700, false)
		time.Sleep(tooSlow - time.Millisecond)
		require.Zero(t, woken())
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1, woken(), "no other came")
		put(1000, false)
		require.Equal(t, 1, woken(), "a slow stream")
		put(1100, false)
		put(1120, true)
		require.Equal(t, 2, woken(), "a keyframe behind one that waits")
		put(1180, false)
		require.Zero(t, woken())
		q.PutStatus(camera.Status{State: camera.Unreachable})
		require.Equal(t, 1, woken(), "a change of state behind one that waits")
		q.Patient(false)
		put(1240, false)
		require.Equal(t, 1, woken(), "what may begin")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, woken())
	})
}

// One timer is for all queues: each is woken in its own time, and not if its unit was taken.
func TestLateIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, late := time.Now(), new(Late)
		queues := make([]*queue, 5)
		for i := range queues {
			queues[i] = newQueue(func(int) {})
			queues[i].late = late
			queues[i].Patient(true)
			queues[i].newest = begun.Add(-50 * time.Millisecond)
		}
		woken := func(at time.Duration) (is []int) {
			time.Sleep(time.Until(begun.Add(at)))
			synctest.Wait()
			for i, q := range queues {
				select {
				case <-q.wake:
					is = append(is, i)
				default:
				}
			}
			return is
		}
		for i, q := range queues {
			q.PutUnit(camera.AccessUnit{Time: time.Now()})
			if i == 2 {
				it, ok := q.TryGet()
				require.True(t, ok)
				q.Follow([]camera.AccessUnit{it.unit}, 3)
			}
			require.Empty(t, woken(time.Duration(i+1)*10*time.Millisecond))
		}
		for i := range queues {
			require.Empty(t, woken(tooSlow+time.Duration(i)*10*time.Millisecond-1))
			want := []int{i}
			if i == 2 {
				want = nil
			}
			require.Equal(t, want, woken(tooSlow+time.Duration(i)*10*time.Millisecond+1))
		}
		queues[1].TryGet()
		queues[1].PutUnit(camera.AccessUnit{Time: time.Now().Add(-100 * time.Millisecond)})
		require.Empty(t, woken(2*tooSlow))
		require.Equal(t, []int{1}, woken(3*tooSlow), "again")
	})
}

// Units that are taken together are in a row, of one stream, and none follows a keyframe.
func TestQueueFollows(t *testing.T) {
	dropped := 0
	q := newQueue(func(n int) { dropped += n })
	for _, u := range []camera.AccessUnit{{Width: 1}, {Width: 2}, {Width: 3}, {Width: 4, RandomAccess: true},
		{Width: 5}, {Width: 6, NewStream: true}} {
		q.PutUnit(u)
	}
	q.PutStatus(camera.Status{})
	var got [][]int
	for {
		it, ok := q.TryGet()
		if !ok || it.status != nil {
			break
		}
		var one []int
		for _, u := range q.Follow([]camera.AccessUnit{it.unit}, 3) {
			one = append(one, u.Width)
		}
		got = append(got, one)
	}
	require.Equal(t, [][]int{{1, 2, 3}, {4}, {5}, {6}}, got)
	require.Zero(t, q.units)
}

package clock

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unmoved counts the events that are still of an era.
func (b *bench) unmoved() (n int) {
	for _, r := range b.events {
		if r.era != 0 {
			n++
		}
	}
	return n
}

// What an hour's events take does not hold up recording: what is recorded after the first piece is
// true, and Wait waits for the last.
func TestSettlingGoesOnBesideTheRecording(t *testing.T) {
	b := newBench(t, &hand{})
	b.piece = 100
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Hour)
	b.sync()
	b.pass(time.Second)
	require.Equal(t, Kernel, b.c.State().Source)
	require.True(t, b.c.State().Unmoved)
	require.Empty(t, b.c.Problem())
	require.Zero(t, b.events[len(b.events)-1].era)
	require.False(t, b.isTrue())
	require.Empty(t, b.steps, "it is told with the number of events")
	before := b.unmoved()
	b.pass(time.Second)
	require.Equal(t, 100, before-b.unmoved())
	b.fail = context.DeadlineExceeded // the disk is full for a while
	b.pass(10 * time.Second)
	require.False(t, b.isTrue())
	b.fail = nil
	b.pass(time.Minute)
	require.True(t, b.isTrue())
	require.False(t, b.c.State().Unmoved)
	require.Len(t, b.steps, 1)
	require.Equal(t, 3600, b.steps[0].Events)
	require.Equal(t, 3600, b.c.State().LastStep.Events)
	b.within(time.Millisecond)
}

// The process ends between two pieces, and the next one goes on, also where that is of another boot
// whose clock is untrue again.
func TestSettlingIsCutOffBetweenPieces(t *testing.T) {
	for _, again := range []func(*bench){
		func(b *bench) { b.start() },
		func(b *bench) { b.boot("b", truth0.AddDate(0, 0, -9)); b.pass(10 * time.Minute); b.sync() },
	} {
		b := newBench(t, &hand{})
		b.piece = 100
		b.boot("a", time.Unix(30, 0))
		b.pass(20 * time.Minute)
		b.sync()
		b.pass(3 * time.Second)
		require.NotZero(t, b.unmoved())
		again(b)
		b.pass(2 * time.Minute)
		require.True(t, b.isTrue())
		b.within(time.Millisecond)
		require.Empty(t, b.c.ledger.Settling)
		require.Empty(t, b.c.ledger.Open)
	}
}

// A disk may take seconds. What is stamped while the clock is untrue, and stored when it has long
// been true, has its right time; and the clock waits for no store: neither to become true, nor to
// stamp for others.
func TestTheClockBecomesTrueBetweenStampAndStore(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Minute)
	b.h.up += time.Second
	slow := b.stamp() // the disk has it from here
	b.sync()
	b.h.up += time.Second
	b.c.look()
	require.True(t, b.isTrue())
	_, era := b.c.Stamp()
	require.Zero(t, era)
	b.store(slow) // to here
	b.pass(time.Minute)
	b.within(time.Millisecond)
}

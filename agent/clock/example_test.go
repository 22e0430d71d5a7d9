package clock_test

import (
	"fmt"
	"log/slog"
	"time"

	"vmsbridge/agent/clock"
)

// box is a machine that booted in 1970 and was given the time later, by a kernel that says so.
type box struct {
	boot time.Duration
	wall time.Time
	ntp  bool
}

func (b *box) BootID() string      { return "first" }
func (b *box) Boot() time.Duration { return b.boot }
func (b *box) Read() clock.Reading { return clock.Reading{Boot: b.boot, Wall: b.wall, Synced: b.ntp} }

// notes is a clock.Memory, and clock.Stores without a record; storage/journal and agent/archive are
// the real ones.
type notes map[string][]byte

func (n notes) Meta(key string) ([]byte, error)        { return n[key], nil }
func (n notes) SetMeta(key string, value []byte) error { n[key] = value; return nil }
func (notes) Announce(uint32, time.Duration)           {}
func (notes) SettleStills(uint32, time.Duration) error { return nil }

func (notes) SettleEvents(uint32, time.Duration, *clock.Note) (n int, more bool, err error) {
	return 0, false, nil
}

func (notes) Extent(uint32) (from, to time.Time, ok bool, err error) { return from, to, false, nil }

// Until a clock is true, what is stored is marked as of an era; its time is put right afterwards.
func Example() {
	machine := &box{boot: 30 * time.Second, wall: time.Unix(30, 0)}
	c := clock.New(clock.Options{Machine: machine, Log: slog.New(slog.DiscardHandler), Wait: time.Minute})
	if err := c.Open(notes{}, notes{}); err != nil {
		panic(err)
	}
	moment := c.Now() // of a picture, say
	at, era := c.Stamp()
	fmt.Println(at(moment).UTC().Year(), era != 0)
	// Output: 1970 true
}

package arming

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // a machine that tests may have none

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
)

// thursday is a Thursday at noon in Berlin.
var thursday = time.Date(2026, 3, 26, 11, 0, 0, 0, time.UTC)

// site is a bridge with two cameras that are armed at night, one that always is, one that is
// switched off, and a clock that the test sets.
type site struct {
	t       *testing.T
	file    string
	journal *journal.Journal
	cfg     *configs.Config
	*Arming

	mu    sync.Mutex // guards both
	now   time.Time
	known bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	cfg, err := configs.Parse("x.yaml", []byte(`
arm: { schedule: [mon-fri 18:00-07:00, sat-sun 00:00-24:00], time_zone: Europe/Berlin }
cameras:
  - { id: gate, url: rtsp://h/1 }
  - { id: yard, url: rtsp://h/2 }
  - { id: vault, url: rtsp://h/3, arm: { schedule: [] } }
  - { id: old, url: rtsp://h/4, enabled: false }
`))
	require.NoError(t, err)
	s := &site{t: t, file: filepath.Join(t.TempDir(), "journal.db"), cfg: cfg, now: thursday, known: true}
	s.start()
	t.Cleanup(func() { require.NoError(t, s.journal.Close()) })
	return s
}

func (s *site) start() {
	j, err := journal.Open(s.file, journal.Options{})
	require.NoError(s.t, err)
	s.journal = j
	s.Arming = Open(s.options(j))
}

func (s *site) options(m Memory) Options {
	return Options{Config: func() *configs.Config { return s.cfg }, Memory: m, Log: slog.New(slog.DiscardHandler),
		Now: func() (time.Time, bool) { s.mu.Lock(); defer s.mu.Unlock(); return s.now, s.known }}
}

func (s *site) again() {
	require.NoError(s.t, s.journal.Close())
	s.start()
}

// at sets the clock, in Berlin.
func (s *site) at(clock string) {
	s.t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(s.t, err)
	now, err := time.ParseInLocation("2006-01-02 15:04", clock, berlin)
	require.NoError(s.t, err)
	s.mu.Lock()
	s.now = now
	s.mu.Unlock()
	s.Look()
}

func (s *site) wish(armed bool, length time.Duration, cameras ...string) {
	s.t.Helper()
	_, err := s.Switch(s.t.Context(), Wish{Cameras: cameras, Armed: armed, Seconds: length.Seconds()})
	require.NoError(s.t, err)
}

// is what the cameras are, in short.
func (s *site) is(want ...string) {
	s.t.Helper()
	list, _ := s.States()
	var got []string
	for _, st := range list {
		text := fmt.Sprintf("%s armed=%t", st.Camera, st.Armed)
		if st.ByHand {
			text += " by hand"
		}
		if !st.Until.IsZero() {
			text += " until " + st.Until.Format("Mon 15:04")
		}
		require.Equal(s.t, st.Armed, !s.Disarmed(st.Camera).Load())
		got = append(got, text)
	}
	require.Equal(s.t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

func TestSwitchHoldsUntilTheScheduleChanges(t *testing.T) {
	s := newSite(t)
	s.is("gate armed=false until Thu 17:00", "yard armed=false until Thu 17:00", "vault armed=true")
	s.wish(true, 0, "gate") // somebody goes home early
	s.wish(false, 0, "vault")
	s.is("gate armed=true by hand until Thu 17:00", "yard armed=false until Thu 17:00", "vault armed=false by hand")
	s.again()
	s.is("gate armed=true by hand until Thu 17:00", "yard armed=false until Thu 17:00", "vault armed=false by hand")
	s.at("2026-03-26 18:00")
	s.is("gate armed=true until Fri 06:00", "yard armed=true until Fri 06:00", "vault armed=false by hand")
	s.wish(false, 0) // somebody comes back
	s.is("gate armed=false by hand until Fri 06:00", "yard armed=false by hand until Fri 06:00",
		"vault armed=false by hand")
	s.wish(true, 0) // and undoes it
	s.is("gate armed=true until Fri 06:00", "yard armed=true until Fri 06:00", "vault armed=true")
}

func TestSwitchForATime(t *testing.T) {
	s := newSite(t)
	s.at("2026-03-28 23:00") // summer time begins three hours later
	s.wish(false, 4*time.Hour)
	s.is("gate armed=false by hand until Sun 02:00", "yard armed=false by hand until Sun 02:00",
		"vault armed=false by hand until Sun 02:00")
	s.again()
	s.at("2026-03-29 03:59") // three hours and 59 minutes, of which the clock showed five
	s.is("gate armed=false by hand until Sun 02:00", "yard armed=false by hand until Sun 02:00",
		"vault armed=false by hand until Sun 02:00")
	s.at("2026-03-29 04:00")
	s.is("gate armed=true until Sun 22:00", "yard armed=true until Sun 22:00", "vault armed=true")
	s.wish(true, 48*time.Hour, "gate") // longer than the schedule has it
	s.is("gate armed=true by hand until Tue 02:00", "yard armed=true until Sun 22:00", "vault armed=true")
}

func TestArmedWhileTheClockIsNotKnown(t *testing.T) {
	s := newSite(t)
	s.wish(false, 0, "vault")
	s.at("2026-03-26 20:00")
	s.wish(false, 0, "gate")
	s.mu.Lock()
	s.known, s.now = false, time.Unix(0, 0)
	s.mu.Unlock()
	s.again()
	s.is("gate armed=true", "yard armed=true", "vault armed=false by hand")
	for _, w := range []Wish{{}, {Cameras: []string{"gate"}}, {Cameras: []string{"vault"}, Seconds: 60}} {
		_, err := s.Switch(t.Context(), w)
		require.ErrorContains(t, err, "The clock is not known to be true yet")
	}
	s.wish(true, 0, "vault") // which needs no clock
	s.is("gate armed=true", "yard armed=true", "vault armed=true")
	s.mu.Lock()
	s.known = true
	s.mu.Unlock()
	s.at("2026-03-26 21:00")
	s.is("gate armed=false by hand until Fri 06:00", "yard armed=true until Fri 06:00", "vault armed=true")
}

func TestWishesThatAreRefused(t *testing.T) {
	s := newSite(t)
	for want, w := range map[string]Wish{
		"There is no camera gait, door; there are gate, yard, vault, old.": {Cameras: []string{"gait", "gate", "door"}},
		"Name a time of up to 366 days.":                                   {Seconds: -1},
		"Name a time of up to 366  days.":                                  {Seconds: 1e9},
	} {
		_, err := s.Switch(t.Context(), w)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, strings.ReplaceAll(want, "  ", " "), refusal.Reason)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.turn <- struct{}{}
	_, err := s.Switch(ended, Wish{})
	require.ErrorIs(t, err, context.Canceled)
	<-s.turn
	s.is("gate armed=false until Thu 17:00", "yard armed=false until Thu 17:00", "vault armed=true")
}

// full is a memory on a disk that is full.
type full struct{}

func (full) Meta(string) ([]byte, error)  { return []byte("{"), nil }
func (full) SetMeta(string, []byte) error { return errors.New("no space left") }

// What cannot be kept is not switched; what was kept and is damaged is forgotten.
func TestSwitchIsDurableOrNotDone(t *testing.T) {
	s := newSite(t)
	a := Open(s.options(full{}))
	_, err := a.Switch(t.Context(), Wish{Armed: true})
	require.EqualError(t, err, "keep what was switched: no space left")
	require.True(t, a.Disarmed("gate").Load())
}

// Run follows the schedule to the second, and says so.
func TestRunFollowsTheTime(t *testing.T) {
	s := newSite(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		o := s.options(s.journal)
		o.Now = func() (time.Time, bool) { return thursday.Add(time.Since(began)), true }
		a := Open(o)
		done := make(chan error, 1)
		go func() { done <- a.Run(ctx) }()
		for _, want := range []time.Duration{6 * time.Hour, 19 * time.Hour, 30 * time.Hour} {
			_, changed := a.States()
			was := a.Disarmed("gate").Load()
			<-changed
			require.Equal(t, want, time.Since(began))
			require.Equal(t, !was, a.Disarmed("gate").Load())
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

// Package arming knows which cameras are armed: those before which motion makes events. It follows
// the schedules of the configuration (configs.Schedule), and what people switch by hand, which it
// keeps in the journal; the cameras' pipelines look at what it says with each picture.
//
//	a := arming.Open(arming.Options{Config: cfg, Memory: journal, Now: now, Log: log})
//	go a.Run(ctx)
//	disarmed := a.Disarmed("gate") // for the camera's pipeline
//	list, err := a.Switch(ctx, arming.Wish{Cameras: []string{"gate"}, Armed: false})
//
// A switch by hand holds until the next change of the camera's schedule, for as long as it was
// wished, or until somebody switches back, over restarts too. While the clock is not known to be
// true no schedule can be followed, and a camera is armed, unless it was disarmed by hand without
// an end.
package arming

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/configs"
)

// Memory is a small store that lasts: the journal is one.
type Memory interface {
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
}

// memoryKey is where it is kept what was switched by hand.
const memoryKey = "arming"

// Options of Open. All must be set.
type Options struct {
	Config func() *configs.Config // the one that runs now
	Memory Memory
	// Now is the true time, and whether it is known to be true.
	Now func() (now time.Time, known bool)
	Log *slog.Logger
}

// State is how a camera is.
type State struct {
	Camera string `json:"camera"`
	Armed  bool   `json:"armed"`
	// ByHand says that somebody switched it, and that the schedule says otherwise, or will.
	ByHand bool `json:"byHand,omitempty"`
	// Until is the next change; zero: none is known.
	Until time.Time `json:"until,omitzero"`
}

// Wish is what somebody wants.
type Wish struct {
	Cameras []string `json:"cameras"` // none: all
	Armed   bool     `json:"armed"`
	// Seconds is for how long; 0: until the next change of the schedule, or for good without one.
	Seconds float64 `json:"seconds,omitempty"`
	// By is who wishes it, for the log.
	By string `json:"-"`
}

// Refusal says that a wish cannot be granted, in a sentence for a person.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// longest bounds for how long something can be switched.
const longest = 366 * 24 * time.Hour

// byHand is what somebody switched.
type byHand struct {
	Armed bool      `json:"armed"`
	Until time.Time `json:"until,omitzero"` // zero: until somebody switches back
}

// Arming is safe for concurrent use. Run may be called once.
type Arming struct {
	o    Options
	wake chan struct{} // buffered 1: something else than time has changed
	turn chan struct{} // buffered 1: who has put something in looks, or switches

	// Guarded by the turn.
	switched  map[string]byHand
	schedules map[string]configs.Schedule // by camera, of
	parsed    *configs.Config

	mu       sync.Mutex              // guards all below
	states   []State                 // of the enabled cameras, in the order of the configuration
	disarmed map[string]*atomic.Bool // by camera; never shrinks
	changed  chan struct{}           // closed when a state is another one
}

// Open reads what was switched by hand in earlier runs. What cannot be read is forgotten, and said.
func Open(o Options) *Arming {
	a := &Arming{o: o, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), switched: map[string]byHand{},
		disarmed: map[string]*atomic.Bool{}, changed: make(chan struct{})}
	raw, err := o.Memory.Meta(memoryKey)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &a.switched)
	}
	if err != nil {
		o.Log.Warn("which cameras were switched by hand is not known any more: they follow their schedules",
			"error", err)
		a.switched = map[string]byHand{}
	}
	a.Look()
	return a
}

// Disarmed is whether a camera is disarmed, now and later.
func (a *Arming) Disarmed(camera string) *atomic.Bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.flagLocked(camera)
}

func (a *Arming) flagLocked(camera string) *atomic.Bool {
	if a.disarmed[camera] == nil {
		a.disarmed[camera] = new(atomic.Bool)
	}
	return a.disarmed[camera]
}

// States are the enabled cameras in the order of the configuration; changed is closed when one of
// them is another one. The caller must not change the slice.
func (a *Arming) States() (list []State, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.states, a.changed
}

// Look takes up the time and the configuration as they are now.
func (a *Arming) Look() {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	a.look()
}

// look is called by the holder of the turn.
func (a *Arming) look() {
	now, known := a.o.Now()
	cfg := a.o.Config()
	var after []State
	for _, c := range cfg.Cameras {
		if c.Enabled {
			after = append(after, a.state(c.ID, a.schedule(cfg, c), now, known))
		}
	}
	a.mu.Lock()
	before := a.states
	a.states = after
	for _, s := range after {
		a.flagLocked(s.Camera).Store(!s.Armed)
	}
	if !slices.Equal(before, after) {
		close(a.changed)
		a.changed = make(chan struct{})
	}
	a.mu.Unlock()
	for _, s := range after {
		i := slices.IndexFunc(before, func(b State) bool { return b.Camera == s.Camera })
		if i < 0 && !s.Armed || i >= 0 && before[i].Armed != s.Armed {
			words := map[bool]string{true: "the camera is armed", false: "the camera is disarmed"}
			a.o.Log.Info(words[s.Armed], "camera", s.Camera, "by_hand", s.ByHand, "until", s.Until)
		}
	}
}

// schedule is a camera's, which is read once.
func (a *Arming) schedule(cfg *configs.Config, c configs.Camera) configs.Schedule {
	if a.parsed != cfg {
		a.parsed, a.schedules = cfg, map[string]configs.Schedule{}
		for _, c := range cfg.Cameras {
			schedule, err := configs.ParseSchedule(c.Arm.Schedule, cfg.Arm.TimeZone)
			if err != nil { // configs has checked it; the zone's file has gone since
				a.o.Log.Warn("the camera is always armed: its schedule cannot be read", "camera", c.ID, "error", err)
			}
			a.schedules[c.ID] = schedule
		}
	}
	return a.schedules[c.ID]
}

func (a *Arming) state(camera string, schedule configs.Schedule, now time.Time, known bool) State {
	hand, ok := a.switched[camera]
	switch {
	case ok && hand.Until.IsZero():
		return State{camera, hand.Armed, true, time.Time{}}
	case !known:
		return State{camera, true, false, time.Time{}}
	case ok && now.Before(hand.Until):
		return State{camera, hand.Armed, true, hand.Until}
	}
	armed, until := schedule.At(now)
	return State{camera, armed, false, until.UTC()}
}

// Switch arms or disarms cameras, and returns all states. It is durable when it returns nil; an
// error means that nothing was switched, a *Refusal that the wish is at fault.
func (a *Arming) Switch(ctx context.Context, w Wish) ([]State, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	next, err := a.wished(w)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(next)
	if err == nil {
		err = a.o.Memory.SetMeta(memoryKey, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("keep what was switched: %w", err)
	}
	a.o.Log.Info("cameras were switched by hand", "armed", w.Armed, "cameras", w.Cameras, "by", w.By)
	a.switched = next
	a.look()
	select {
	case a.wake <- struct{}{}:
	default:
	}
	list, _ := a.States()
	return list, nil
}

// Armed is before which cameras motion makes events; changed is closed when that is otherwise.
func (a *Arming) Armed() (armed map[string]bool, changed <-chan struct{}) {
	list, changed := a.States()
	armed = map[string]bool{}
	for _, s := range list {
		armed[s.Camera] = s.Armed
	}
	return armed, changed
}

// ByBroker is Switch of a camera, "" all, as somebody at the MQTT broker wishes.
func (a *Arming) ByBroker(ctx context.Context, camera string, armed bool) error {
	w := Wish{Armed: armed, By: "the MQTT broker"}
	if camera != "" {
		w.Cameras = []string{camera}
	}
	_, err := a.Switch(ctx, w)
	return err
}

// wished is what is switched by hand when a wish is granted. Cameras that are gone, and times that
// are over, are left out.
func (a *Arming) wished(w Wish) (map[string]byHand, error) {
	now, known := a.o.Now()
	cfg := a.o.Config()
	length := time.Duration(w.Seconds * float64(time.Second))
	if !(w.Seconds >= 0 && w.Seconds <= longest.Seconds()) {
		return nil, &Refusal{"Name a time of up to 366 days."}
	}
	next, left := map[string]byHand{}, slices.Clone(w.Cameras)
	for _, c := range cfg.Cameras {
		if hand, ok := a.switched[c.ID]; ok && (!known || hand.Until.IsZero() || now.Before(hand.Until)) {
			next[c.ID] = hand
		}
		left = slices.DeleteFunc(left, func(id string) bool { return id == c.ID })
		if !c.Enabled || len(w.Cameras) > 0 && !slices.Contains(w.Cameras, c.ID) {
			continue
		}
		armed, until := a.schedule(cfg, c).At(now)
		if length > 0 {
			until = now.Add(length).Truncate(time.Second).UTC()
		}
		switch {
		case !known && (length > 0 || len(c.Arm.Schedule) > 0):
			return nil, &Refusal{"The clock is not known to be true yet, so nothing can be switched until a time, " +
				"and cameras are armed: vmsbridge status says what the clock waits for."}
		case armed == w.Armed && length == 0:
			delete(next, c.ID)
		default:
			next[c.ID] = byHand{w.Armed, until.UTC()}
		}
	}
	if len(left) > 0 {
		return nil, &Refusal{fmt.Sprintf("There is no camera %s; there are %s.", strings.Join(left, ", "), idsOf(cfg))}
	}
	return next, nil
}

func idsOf(cfg *configs.Config) string {
	ids := make([]string, 0, len(cfg.Cameras))
	for _, c := range cfg.Cameras {
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// lookEvery is how long it may take until a step of the clock, or that it is true, is taken up.
const lookEvery = 30 * time.Second

// Run follows the time until ctx is done.
func (a *Arming) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.wake:
		case <-timer.C:
		}
		a.Look()
		wait := lookEvery
		now, _ := a.o.Now()
		list, _ := a.States()
		for _, s := range list {
			if d := s.Until.Sub(now); !s.Until.IsZero() && d < wait {
				wait = max(d, time.Millisecond)
			}
		}
		timer.Reset(wait)
	}
}

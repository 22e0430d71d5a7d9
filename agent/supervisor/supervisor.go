package supervisor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Supervisor runs the workers of a set of tasks. Its methods are safe for concurrent use.
type Supervisor[W Worker] struct {
	opts   Options
	orders chan order[W]

	mu     sync.RWMutex // guards places
	places []*place[W]  // in the order of the tasks
}

// Change is what Apply did, by names, each in the order of the tasks.
type Change struct {
	Added, Removed, Restarted []string
}

// Empty reports whether nothing was done.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Restarted) == 0 }

// order asks the goroutine of Run for a change, or, if it is not fresh, for a sign of life.
type order[W Worker] struct {
	places []*place[W]
	fresh  bool
	change Change
	done   chan Change
}

// New makes a supervisor without tasks.
func New[W Worker](o Options) *Supervisor[W] {
	if o.Backoff == (Backoff{}) {
		o.Backoff = Backoff{Min: time.Second, Max: 30 * time.Second, Calm: time.Minute}
	}
	return &Supervisor[W]{opts: o, orders: make(chan order[W])}
}

// Set makes the workers of the first tasks. It is called once, before Run.
func (s *Supervisor[W]) Set(tasks []Task[W]) error {
	places, _, err := s.plan(nil, tasks)
	if err == nil {
		s.put(places)
	}
	return err
}

// Named is a worker and the name of its task.
type Named[W Worker] struct {
	Name   string
	Worker W
}

// Workers are those of now, in the order of the tasks.
func (s *Supervisor[W]) Workers() []Named[W] {
	places := s.now()
	list := make([]Named[W], len(places))
	for i, p := range places {
		list[i] = Named[W]{p.task.Name, *p.current.Load()}
	}
	return list
}

func (s *Supervisor[W]) now() []*place[W] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.places)
}

func (s *Supervisor[W]) put(places []*place[W]) {
	s.mu.Lock()
	s.places = places
	s.mu.Unlock()
}

// Run runs all workers until ctx is done, and waits for them.
func (s *Supervisor[W]) Run(ctx context.Context) error {
	for _, p := range s.now() {
		p.start(ctx, s.opts)
	}
	for {
		select {
		case <-ctx.Done():
			var ended sync.WaitGroup
			for _, p := range s.now() {
				ended.Go(p.stop)
			}
			ended.Wait()
			return ctx.Err()
		case o := <-s.orders:
			if o.fresh {
				s.replace(ctx, o)
			}
			o.done <- o.change
		}
	}
}

// Apply brings the workers in line with changed tasks, while Run runs. A worker whose task is as it
// was goes on untouched. If a worker cannot be made, nothing is changed. Apply blocks until the
// workers that had to stop have stopped.
func (s *Supervisor[W]) Apply(ctx context.Context, tasks []Task[W]) (Change, error) {
	apply, err := s.Prepare(tasks)
	if err != nil {
		return Change{}, err
	}
	return apply(ctx)
}

// Prepare makes the workers of changed tasks that need new ones. They do not run yet: apply is
// Apply of them, which may be left undone. No other change may come between.
func (s *Supervisor[W]) Prepare(tasks []Task[W]) (apply func(context.Context) (Change, error), err error) {
	places, change, err := s.plan(s.now(), tasks)
	return func(ctx context.Context) (Change, error) {
		return s.order(ctx, order[W]{places: places, fresh: true, change: change})
	}, err
}

// Ping waits until the goroutine of Run answers, which shows that it is not stuck.
func (s *Supervisor[W]) Ping(ctx context.Context) error {
	_, err := s.order(ctx, order[W]{})
	return err
}

func (s *Supervisor[W]) order(ctx context.Context, o order[W]) (Change, error) {
	o.done = make(chan Change, 1)
	select {
	case s.orders <- o:
	case <-ctx.Done():
		return Change{}, fmt.Errorf("ask the supervisor (%s): %w", s.opts.Label, ctx.Err())
	}
	select {
	case change := <-o.done:
		return change, nil
	case <-ctx.Done():
		return Change{}, fmt.Errorf("wait for the supervisor (%s): %w", s.opts.Label, ctx.Err())
	}
}

// plan makes the list of places for tasks: those of old that need no change, and new ones, which do
// not run.
func (s *Supervisor[W]) plan(old []*place[W], tasks []Task[W]) (places []*place[W], change Change, err error) {
	before := map[string]*place[W]{}
	for _, p := range old {
		before[p.task.Name] = p
	}
	for _, task := range tasks {
		p := before[task.Name]
		delete(before, task.Name)
		if p != nil && reflect.DeepEqual(p.task.Config, task.Config) {
			places = append(places, p)
			continue
		}
		if p == nil {
			change.Added = append(change.Added, task.Name)
		} else {
			change.Restarted = append(change.Restarted, task.Name)
		}
		if p, err = newPlace(task); err != nil {
			return nil, Change{}, err
		}
		places = append(places, p)
	}
	for _, p := range old {
		if before[p.task.Name] != nil {
			change.Removed = append(change.Removed, p.task.Name)
		}
	}
	return places, change, nil
}

// replace stops the places that are no longer there and then starts the new ones: a camera is never
// asked for two sessions, and a cursor never read by two sinks.
func (s *Supervisor[W]) replace(ctx context.Context, o order[W]) {
	old := s.now()
	var ended sync.WaitGroup
	for _, p := range old {
		if !slices.Contains(o.places, p) {
			ended.Go(p.stop)
		}
	}
	ended.Wait()
	s.put(o.places)
	for _, name := range o.change.Removed {
		if s.opts.Restarts != nil {
			s.opts.Restarts.DeleteLabelValues(name)
		}
		if s.opts.Forget != nil {
			s.opts.Forget(name)
		}
	}
	for _, p := range o.places {
		if !slices.Contains(old, p) {
			p.start(ctx, s.opts)
		}
	}
}

package crew

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
)

// Options are what a crew needs; all must be set.
type Options struct {
	// Make makes the pipeline of a camera's section. It starts nothing.
	Make func(configs.Camera) (*pipeline.Pipeline, error)
	// Forget is told of a camera that is no longer watched, when nothing of it runs any more.
	Forget     func(camera string)
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Crew is all posts. Its methods are safe for concurrent use.
type Crew struct {
	opts     Options
	restarts *prometheus.CounterVec // camera
	orders   chan order

	mu    sync.RWMutex // guards posts
	posts []*Post      // in the order of the configuration
}

// Change is what Apply did, by cameras' ids, each in the order of the configuration.
type Change struct {
	Added, Removed, Restarted []string
}

// Empty tells whether nothing was done.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Restarted) == 0 }

// order asks the goroutine of Run for a change, or, with nil posts, for a sign of life.
type order struct {
	posts  []*Post
	fresh  bool
	change Change
	done   chan Change
}

// New makes a crew without posts.
func New(o Options) *Crew {
	return &Crew{opts: o, orders: make(chan order), restarts: promauto.With(o.Registerer).NewCounterVec(prometheus.CounterOpts{
		Name: "vmsbridge_agent_pipeline_restarts_total", Help: "Pipelines that ended with an error and were started again."}, []string{"camera"})}
}

// Hire makes the posts of the enabled cameras. It is called once, before Run.
func (c *Crew) Hire(cameras []configs.Camera) error {
	posts, _, err := c.muster(nil, cameras)
	if err == nil {
		c.mu.Lock()
		c.posts = posts
		c.mu.Unlock()
	}
	return err
}

// Posts are those of now. They belong to the crew; their methods are safe for concurrent use.
func (c *Crew) Posts() []*Post {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.posts)
}

// Run runs all posts until ctx is done, and waits for them.
func (c *Crew) Run(ctx context.Context) error {
	for _, p := range c.Posts() {
		p.start(ctx, c)
	}
	for {
		select {
		case <-ctx.Done():
			for _, p := range c.Posts() {
				p.stop()
			}
			return ctx.Err()
		case o := <-c.orders:
			if o.fresh {
				c.replace(ctx, o)
			}
			o.done <- o.change
		}
	}
}

// Apply brings the posts in line with the cameras of a new configuration, while Run runs. A post whose section is as it was
// goes on untouched. Where a pipeline cannot be made, nothing at all is changed. It blocks until the posts that had to stop have
// stopped, some seconds at most.
func (c *Crew) Apply(ctx context.Context, cameras []configs.Camera) (Change, error) {
	posts, change, err := c.muster(c.Posts(), cameras)
	if err != nil {
		return Change{}, err
	}
	return c.order(ctx, order{posts: posts, fresh: true, change: change})
}

// Ping waits until the goroutine of Run answers, which tells that it is not stuck.
func (c *Crew) Ping(ctx context.Context) error {
	_, err := c.order(ctx, order{})
	return err
}

func (c *Crew) order(ctx context.Context, o order) (Change, error) {
	o.done = make(chan Change, 1)
	select {
	case c.orders <- o:
	case <-ctx.Done():
		return Change{}, fmt.Errorf("ask the cameras' supervisor: %w", ctx.Err())
	}
	select {
	case change := <-o.done:
		return change, nil
	case <-ctx.Done():
		return Change{}, fmt.Errorf("wait for the cameras' supervisor: %w", ctx.Err())
	}
}

// muster makes the list of posts for cameras: those of old that need no change, and new ones, which do not run yet.
func (c *Crew) muster(old []*Post, cameras []configs.Camera) (posts []*Post, change Change, err error) {
	before := map[string]*Post{}
	for _, p := range old {
		before[p.section.ID] = p
	}
	for _, section := range cameras {
		if !section.Enabled {
			continue
		}
		p := before[section.ID]
		delete(before, section.ID)
		if p != nil && reflect.DeepEqual(p.section, section) {
			posts = append(posts, p)
			continue
		}
		first, err := c.opts.Make(section)
		if err != nil {
			return nil, Change{}, err
		}
		if p == nil {
			change.Added = append(change.Added, section.ID)
		} else {
			change.Restarted = append(change.Restarted, section.ID)
		}
		posts = append(posts, newPost(section, first))
	}
	for _, p := range old {
		if before[p.section.ID] != nil {
			change.Removed = append(change.Removed, p.section.ID)
		}
	}
	return posts, change, nil
}

// replace stops the posts that are no longer there and then starts the new ones: a camera is never asked for two sessions.
func (c *Crew) replace(ctx context.Context, o order) {
	old := c.Posts()
	var ended sync.WaitGroup
	for _, p := range old {
		if !slices.Contains(o.posts, p) {
			ended.Go(p.stop)
		}
	}
	ended.Wait()
	c.mu.Lock()
	c.posts = o.posts
	c.mu.Unlock()
	for _, id := range o.change.Removed {
		c.restarts.DeleteLabelValues(id)
		c.opts.Forget(id)
	}
	for _, p := range o.posts {
		if !slices.Contains(old, p) {
			p.start(ctx, c)
		}
	}
}

// Pauses between two lives of a pipeline that ended with an error of ours.
const (
	restartMin = time.Second
	restartMax = 30 * time.Second
)

package codec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/worker"
)

// Where decoders run.
const (
	InProcess  = "none"    // in this process: a crash of a C library ends it
	OwnProcess = "process" // in decoder processes
)

// Options of a Pool. The zero value is usable.
type Options struct {
	// Isolation is OwnProcess (default) or InProcess.
	Isolation string
	// PerProcess is how many cameras share a process. 0: four, and up to twelve where each
	// processor has a process already that is not busy.
	PerProcess int
	// LibraryDirs are searched for C libraries before the system's folders.
	LibraryDirs []string
	// Decoders are names of libavcodec's decoders that are tried before its own, hardware as a
	// rule: h264_v4l2m2m, hevc_rkmpp. Processes may open devices then.
	Decoders []string
	// CallTimeout is how long a process may take for one call before it counts as hung; default 5
	// s. Not with InProcess.
	CallTimeout time.Duration
	// Log, Registerer: nil is silent, and unregistered.
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

const (
	// A process costs 15 MB whatever it decodes, and can keep one processor busy: more than there
	// are processors save no time.
	fewPerProcess, manyPerProcess = 4, 12

	defaultCallTimeout = 5 * time.Second
	// What may wait for a slow disk: the start of a process, and loading libavcodec with all that
	// it needs.
	greetTimeout = 30 * time.Second
	startTimeout = 30 * time.Second
	// breaksUntilAlone is how often a camera may break a shared process.
	breaksUntilAlone = 2
)

// Pool owns the decoder processes. Safe for concurrent use.
type Pool struct {
	options      Options
	log          *slog.Logger
	metrics      *metrics
	direct       *engine.Engine // with InProcess; else nil
	numbers      atomic.Uint32  // of decoders
	pictureBytes int64          // the most that the pictures of one stream may take in memory
	running      sync.WaitGroup // the groups' goroutines and the spawner
	deaths       deaths

	mu      sync.Mutex // guards what follows, and the fields of groups and decoders that say so
	closed  bool
	groups  []*group
	owners  map[string]*group
	shares  *shares
	breaks  map[string]int // how often each camera's call was under way when its process died
	spawner chan spawn     // nil until the first process
}

// NewPool starts nothing: processes start when decoders are first used.
func NewPool(o Options) *Pool {
	if o.CallTimeout <= 0 {
		o.CallTimeout = defaultCallTimeout
	}
	for i, dir := range o.LibraryDirs {
		if abs, err := filepath.Abs(dir); err == nil {
			o.LibraryDirs = slices.Clone(o.LibraryDirs)
			o.LibraryDirs[i] = abs // decoder processes run in another folder
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{
		options: o, log: o.Log, metrics: newMetrics(o.Registerer),
		owners: map[string]*group{}, breaks: map[string]int{}, shares: newShares(runtime.NumCPU(),
			cmp.Or(o.PerProcess, fewPerProcess)), pictureBytes: pictureBytes(machineMemory()),
	}
	if o.Isolation == InProcess {
		p.direct = engine.New(engine.Options{LibraryDirs: o.LibraryDirs, PictureBytes: p.pictureBytes,
			Decoders: o.Decoders})
	}
	return p
}

// Open makes a decoder. It does no work yet: what is wrong is told by the first Decode. owner is
// the camera's id: the decoders of a camera share a process, and a camera that breaks its process
// twice gets one of its own. lumaPixels is the most that a picture's reduced luma may have; 0 asks
// for none.
func (p *Pool) Open(owner string, f Format, lumaPixels int) *Decoder {
	return &Decoder{pool: p, owner: owner, format: f, lumaPixels: lumaPixels, number: p.numbers.Add(1),
		lumaFrom: math.MinInt64}
}

// Capabilities says which libraries serve which format, and what to install where one is missing.
// It starts a process for that, and ends it.
func (p *Pool) Capabilities(ctx context.Context) (Capabilities, error) {
	if p.direct != nil {
		return p.direct.Capabilities(), nil
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return Capabilities{}, ErrClosed
	}
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()
	c, err := p.probe(ctx)
	if err != nil {
		return Capabilities{}, fmt.Errorf("ask for capabilities: %w", err)
	}
	return c, nil
}

func (p *Pool) probe(ctx context.Context) (Capabilities, error) {
	if err := ctx.Err(); err != nil {
		return Capabilities{}, err
	}
	proc, err := p.launch(true)
	if err != nil {
		return Capabilities{}, err
	}
	defer proc.end()
	defer context.AfterFunc(ctx, proc.kill)()
	if err := proc.greet(); err != nil {
		return Capabilities{}, errors.Join(ctx.Err(), err)
	}
	reply, err := proc.exchange(worker.AppendFrame(nil, worker.Capabilities, 0), startTimeout)
	if err != nil {
		return Capabilities{}, errors.Join(ctx.Err(), err)
	}
	if err := worker.ParseError(reply); err != nil {
		return Capabilities{}, err
	}
	c, err := worker.ParseCapabilities(reply.Body)
	if err == nil {
		c.Confinement.Note(memoryClosed, p.closeMemory())
	}
	return c, err
}

// Close ends all processes and waits for them. Decoders answer ErrClosed from then on.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, g := range p.groups {
		g.endLocked()
	}
	p.groups = nil
	clear(p.owners)
	p.mu.Unlock()
	p.running.Wait()

	p.mu.Lock()
	spawner := p.spawner
	p.spawner = nil
	p.mu.Unlock()
	if spawner != nil {
		done := make(chan error)
		spawner <- spawn{done: done}
		<-done
	}
	return nil
}

// groupOf is the group of d's owner; it makes one where there is none.
func (p *Pool) groupOf(d *Decoder) (*group, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || d.closed {
		return nil, ErrClosed
	}
	p.settleLocked(d.owner, false)
	if d.group != nil {
		return d.group, nil
	}
	g, alone := p.owners[d.owner], p.aloneLocked(d.owner)
	if g == nil && !alone {
		g = p.roomLocked()
	}
	if g == nil {
		g = p.newGroupLocked(alone, p.breaks[d.owner])
	}
	p.joinLocked(g, d)
	return g, nil
}

// aloneLocked says whether an owner is to have a process of its own.
func (p *Pool) aloneLocked(owner string) bool {
	o := p.shares.owners[owner]
	return p.breaks[owner] >= breaksUntilAlone || o != nil && o.stage != Shared
}

func (p *Pool) joinLocked(g *group, d *Decoder) {
	p.owners[d.owner] = g
	g.members[d.owner] = append(g.members[d.owner], d)
	d.group = g
}

// newGroupLocked makes a group for owners who have broken so many processes.
func (p *Pool) newGroupLocked(alone bool, deaths int) *group {
	g := newGroup(p, alone, min(deaths, freeDeaths))
	p.groups = append(p.groups, g)
	p.running.Go(g.run)
	return g
}

// leave takes a closed decoder out of its group, and ends a group that nobody needs.
func (p *Pool) leave(d *Decoder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := d.group
	if d.closed = true; g == nil || p.closed {
		return
	}
	d.group = nil
	if left := slices.DeleteFunc(g.members[d.owner], func(o *Decoder) bool { return o == d }); len(left) > 0 {
		g.members[d.owner] = left
	} else {
		delete(g.members, d.owner)
		delete(p.owners, d.owner)
	}
	if len(g.members) == 0 {
		p.groups = slices.DeleteFunc(p.groups, func(o *group) bool { return o == g })
		g.endLocked()
		return
	}
	g.leaving = append(g.leaving, d)
	g.nudge()
}

// blame notes that a call of owner was under way when its process died. After the second time, or
// the first that the process hung, which holds the others up for longer, the owner gets a process
// of its own. It answers whether the owner left g.
func (p *Pool) blame(g *group, owner string, hung bool) (left bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breaks[owner]++
	deaths := p.breaks[owner]
	if hung {
		p.breaks[owner] = max(p.breaks[owner], breaksUntilAlone)
	}
	if p.closed || g.alone || p.breaks[owner] < breaksUntilAlone || p.owners[owner] != g {
		return false
	}
	p.log.Warn("camera gets a decoder process of its own, because it broke a shared one", "camera", owner)
	p.metrics.alone.Inc()
	if len(g.members) == 1 {
		g.alone = true
		return false
	}
	own := p.newGroupLocked(true, deaths)
	for _, d := range g.members[owner] {
		p.joinLocked(own, d)
	}
	delete(g.members, owner)
	return true
}

// spawn is a command to start, and where the answer goes; a nil command ends the spawner.
type spawn struct {
	cmd  *exec.Cmd
	done chan error
}

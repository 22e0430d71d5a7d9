package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vmsbridge/agent/api"
	"vmsbridge/configs"
)

// reloadPatience bounds a reload: cameras that have to stop get a moment.
const reloadPatience = 30 * time.Second

// Reload reads the configuration anew and takes over what can be taken over while the bridge runs.
// A file with problems changes nothing; log, health, a metric and an event say so until a good one
// is read. It blocks until all is done, some seconds at most. Safe for concurrent use.
func (a *Agent) Reload(ctx context.Context) (Reloaded, error) {
	if a.opts.Load == nil {
		return Reloaded{}, errors.New("reload: this bridge has no configuration file")
	}
	ctx, cancel := context.WithTimeout(ctx, reloadPatience)
	defer cancel()
	select {
	case <-a.serving:
	case <-ctx.Done():
		return Reloaded{}, fmt.Errorf("reload: the bridge is still starting: %w", ctx.Err())
	}
	a.edits.turn.Lock()
	defer a.edits.turn.Unlock()
	a.opts.Manager.Reloading()
	defer func() { a.opts.Manager.Ready(inShort(a.cameras)) }()
	next, err := a.opts.Load()
	if err == nil {
		var done Reloaded
		if done, err = a.takeOver(ctx, next); err == nil {
			a.edits.edited(done)
			if service := a.outbound.Service(); service != nil {
				service.Again() // cameras may have come or gone
			}
			return done, nil
		}
	}
	problems := strings.Split(err.Error(), "\n")
	a.edits.misedited(problems)
	return Reloaded{Problems: problems}, nil
}

// These keys, and all below them, hold as soon as they are read. What is not among them waits for a
// restart.
var liveKeys = []string{"bridge.name", "service.token", "service.token_file", "service.session_file", "service.ca_file",
	"service.tls_fingerprint",
	"service.report_ongoing", "service.tunnel", "api.tokens", "api.tls", "stills.preview_interval",
	"stills.motion_interval", "stills.main_interval",
	"stills.preview_width", "stills.quality", "journal", "motion", "arm", "mqtt", "webhooks", "file", "log.level"}

// takeOver makes next the running configuration as far as that can be done. What can fail is done
// first, so that an error means that nothing was changed.
func (a *Agent) takeOver(ctx context.Context, next *configs.Config) (Reloaded, error) {
	now := a.cfg()
	done := Reloaded{Problems: []string{}, Applied: []string{}, Restart: []string{}, Warnings: []string{}}
	for _, key := range configs.Diff(now, next) {
		if holdsAtOnce(key, now, next) {
			done.Applied = append(done.Applied, key)
		} else {
			done.Restart = append(done.Restart, key)
		}
	}
	if rescheduled(now, next) && !slices.Contains(done.Applied, "arm.schedule") {
		done.Applied = append(done.Applied, "cameras[].arm")
	}
	for _, w := range next.Warnings {
		done.Warnings = append(done.Warnings, w.String())
	}
	run := *now
	run.Take(next, done.Applied)
	run.Cameras, run.File, run.Warnings = next.Cameras, next.File, next.Warnings

	local, err := a.api.Prepare(&run, next)
	if err != nil {
		return done, err
	}
	applySinks, err := a.outbound.Prepare(&run)
	if err != nil {
		return done, err
	}
	if done.Cameras, err = a.cameras.Apply(ctx, a.cameras.Tasks(run.Cameras)); err != nil {
		return done, err
	}
	a.settled(&run, local)
	return done, applySinks(ctx)
}

// rescheduled tells whether a camera has another schedule, which starts no camera anew.
func rescheduled(now, next *configs.Config) bool {
	return slices.ContainsFunc(now.Cameras, func(a configs.Camera) bool {
		return slices.ContainsFunc(next.Cameras, func(b configs.Camera) bool {
			return a.ID == b.ID && !slices.Equal(a.Arm.Schedule, b.Arm.Schedule)
		})
	})
}

// holdsAtOnce tells whether a changed key can be taken over now.
func holdsAtOnce(key string, now, next *configs.Config) bool {
	if strings.HasPrefix(key, "api.tls") && (now.API.TLS.Cert == "") != (next.API.TLS.Cert == "") {
		return false // the port speaks TLS, or it does not
	}
	return slices.ContainsFunc(liveKeys, func(live string) bool {
		return key == live || strings.HasPrefix(key, live+".")
	})
}

// settled puts in place what cannot fail.
func (a *Agent) settled(run *configs.Config, local api.Change) {
	a.live.Store(run)
	a.api.Apply(local)
	a.pace.Set(run.Stills)
	a.arming.Look()
	a.archive.Events.ReportOngoing(run.Service.ReportOngoing)
	if a.opts.Level != nil {
		_ = a.opts.Level.UnmarshalText([]byte(run.Log.Level)) // configs has checked it
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"vmsbridge/agent"
	"vmsbridge/configs"
)

type runCommand struct {
	File string `arg:"" optional:"" help:"Configuration file; instead of --config." placeholder:"FILE"`
	configFile
}

// Run runs the bridge. The first SIGINT or SIGTERM ends it in order: open spans are ended and written, stills flushed. A
// second one ends the process at once; what was durable stays so.
func (c *runCommand) Run(ctx context.Context, s streams) error {
	if c.File != "" {
		c.Config = c.File
	}
	cfg, err := c.load(s)
	if err != nil {
		return err
	}
	log := newLogger(s.err, cfg.Log)
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "file", w.File, "line", w.Line, "key", w.Path, "warning", w.Message)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a, err := agent.New(cfg, agent.Options{Log: log, Version: version(), Registry: registry, Ready: func(net.Addr) { notify(log, daemon.SdNotifyReady) }})
	if err != nil {
		return &exitError{exitConfig, err}
	}
	ctx, stop := drainOnSignal(ctx, log)
	defer stop()
	if err := a.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the bridge: %w", err)
	}
	return nil
}

// drainOnSignal returns a context that the first SIGINT or SIGTERM cancels; the second ends the process.
func drainOnSignal(ctx context.Context, log *slog.Logger) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2) // one to drain, one to abort
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	ended := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case sig := <-signals:
			log.Info("stopping; another signal aborts", "signal", sig.String())
			notify(log, daemon.SdNotifyStopping)
			cancel()
		case <-ended:
			return
		}
		select {
		case sig := <-signals:
			log.Error("aborted before everything was written", "signal", sig.String())
			os.Exit(exitAborted)
		case <-ended:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(ended)
		<-done
		cancel()
	}
}

// notify tells systemd; without systemd it does nothing.
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("tell systemd", "error", err)
	}
}

func newLogger(w io.Writer, c configs.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // configs has checked it
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

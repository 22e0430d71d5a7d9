package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"vmsbridge/agent"
	"vmsbridge/agent/health"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

type runCommand struct {
	File   string `arg:"" optional:"" help:"Configuration file; instead of --config." placeholder:"FILE"`
	Listen string `help:"At a first start in an empty folder: where the page is to listen. Default 0.0.0.0:8480." placeholder:"HOST:PORT"`
	configFile
}

func (runCommand) Help() string {
	return `In an empty folder, on a machine without a configuration, it makes one, and its page adds the cameras: the terminal says where
the page is. SIGHUP has it read the configuration anew.`
}

// Run runs the bridge. SIGHUP has it read its configuration anew. The first SIGINT or SIGTERM ends
// it in order: open spans are ended and written, stills flushed. One that comes more than two
// seconds later ends the process at once; what was durable stays so.
func (c *runCommand) Run(ctx context.Context, s streams) error {
	if c.File != "" {
		c.Config = c.File
	}
	var err error
	if c.Config, err = firstStart(c.Config, c.Listen, s); err != nil {
		return err
	}
	cfg, err := c.load(s)
	if err != nil {
		return err
	}
	level := &slog.LevelVar{}
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // configs has checked it
	log, lines := cli.NewLog(s.err, cfg.Log.Format, level)
	defer lines.Close()
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "file", w.File, "line", w.Line, "key", w.Path, "warning", w.Message)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a, err := agent.New(cfg, agent.Options{Log: log, Version: version(), Registry: registry,
		Manager: health.NewManager(log), Level: level,
		Ready: func(listen net.Addr) {
			list := pages(cfg, listen)
			log.Info("the page for people", "addresses", list)
			if f, ok := s.out.(*os.File); ok && cli.Terminal(f) {
				sayPages(list, firstCode(cfg), s)
			}
		},
		Bundle: bundleOf(c.configFile), Load: func() (*configs.Config, error) { return configs.Load(c.Config) }})
	if err != nil {
		return cli.Exit(exitConfig, err)
	}
	ctx, stopped := cli.OnSignal(ctx, log, func(code int) { _ = lines.Close(); os.Exit(code) })
	defer stopped()
	defer reloadOnSignal(ctx, a, log)()
	defer shareProcessors(ctx)()
	collectOften()
	if err := a.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the bridge: %w", err)
	}
	return nil
}

// reloadOnSignal has the bridge read its configuration anew at each SIGHUP, until the returned
// function is called. Signals that come while it reads are one more reading.
func reloadOnSignal(ctx context.Context, a *agent.Agent, log *slog.Logger) func() {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				if _, err := a.Reload(ctx); err != nil && ctx.Err() == nil {
					log.Error("read the configuration anew", "error", err)
				}
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		cancel()
		<-done
	}
}

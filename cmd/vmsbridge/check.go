package main

import (
	"errors"
	"fmt"

	"vmsbridge/agent/api"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

type checkCommand struct {
	File string `arg:"" optional:"" help:"Configuration file; instead of --config." placeholder:"FILE"`
	JSON bool   `name:"json" help:"Print JSON."`
	configFile
}

// checked is what check says as JSON.
type checked struct {
	File     string            `json:"file"`
	Good     bool              `json:"good"`
	Problems []configs.Problem `json:"problems"`
	Warnings []configs.Problem `json:"warnings"`
	Cameras  int               `json:"cameras"`
	Enabled  int               `json:"camerasEnabled"`
}

// Run prints problems and warnings on standard output, because they are what was asked for.
func (c *checkCommand) Run(s streams) error {
	if c.File != "" {
		c.Config = c.File
	}
	cfg, err := configs.Load(c.Config)
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		if c.JSON {
			found := checked{File: c.Config, Problems: problems, Warnings: []configs.Problem{}}
			return cli.Exit(exitConfig, cli.JSON(s.out, found))
		}
		for _, p := range problems {
			_, _ = fmt.Fprintln(s.out, p)
		}
		return cli.Exit(exitConfig, fmt.Errorf("%s in %s", counted(len(problems), "problem"), c.Config))
	}
	if err != nil {
		return noConfig(err)
	}
	enabled := 0
	for _, cam := range cfg.Cameras {
		if cam.Enabled {
			enabled++
		}
	}
	if c.JSON {
		return cli.JSON(s.out,
			checked{c.Config, true, []configs.Problem{}, append([]configs.Problem{}, cfg.Warnings...),
				len(cfg.Cameras), enabled})
	}
	for _, w := range cfg.Warnings {
		w.Message = "warning: " + w.Message
		_, _ = fmt.Fprintln(s.out, w)
	}
	if own := cfg.OwnCertificate(); cfg.MakesCertificate() {
		if print := api.KeptFingerprint(own); print != "" {
			_, _ = fmt.Fprintf(s.out, "%s: api.tls: the bridge's own certificate has the SHA-256 %s\n", c.Config, print)
		} else {
			_, _ = fmt.Fprintf(s.out, "%s: api.tls: the bridge makes its certificate when it starts; vmsbridge "+
				"status shows its SHA-256\n", c.Config)
		}
	}
	_, _ = fmt.Fprintf(s.out, "%s: good, %s (%d enabled)\n", c.Config, counted(len(cfg.Cameras), "camera"), enabled)
	return nil
}

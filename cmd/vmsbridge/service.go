package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/kardianos/service"

	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

// serviceCommand puts the bridge under the system's service manager and talks to it.
type serviceCommand struct {
	Install   serviceInstall   `cmd:"" help:"Install the bridge as a system service, started at boot. Checks the configuration first."`
	Uninstall serviceUninstall `cmd:"" help:"Stop it and remove the service. Data and configuration stay."`
	Start     serviceAction    `cmd:"" help:"Start the service."`
	Stop      serviceAction    `cmd:"" help:"Stop the service."`
	Restart   serviceAction    `cmd:"" help:"Stop and start the service."`
	Reload    serviceReload    `cmd:"" help:"Have the running bridge read its configuration anew, and say what it took over."`
	Status    serviceStatus    `cmd:"" help:"Say whether it is installed and runs; exit code 1 if it does not."`
}

// serviceName is what the service manager calls the bridge.
const serviceName = "vmsbridge"

type serviceInstall struct {
	configFile
	User string `help:"System user to run as; it must exist." default:"vmsbridge" placeholder:"NAME"`
}

type (
	serviceUninstall struct{}
	serviceAction    struct{} // what the manager calls as the command is called
	serviceStatus    struct {
		JSON bool `name:"json" help:"Print JSON."`
	}
)

func (c *serviceInstall) Run(s streams) error {
	file, err := filepath.Abs(c.Config)
	if err != nil {
		return fmt.Errorf("find the configuration: %w", err)
	}
	if _, err := c.load(s); err != nil {
		return err
	}
	if _, err := user.Lookup(c.User); err != nil {
		return fmt.Errorf("there is no user %q: make it with useradd --system --home /var/lib/vmsbridge %s, or name "+
			"one with --user", c.User, c.User)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	unit, err := configs.Unit(program, file, c.User)
	if err != nil {
		return err
	}
	manager, err := serviceManager(service.Config{Executable: program, UserName: c.User,
		Arguments: []string{"run", "--config", file},
		Option:    service.KeyValue{"SystemdScript": unit}})
	if err != nil {
		return err
	}
	if err := manager.Install(); err != nil {
		return fmt.Errorf("install the service: %w (it needs root; an installed one must be uninstalled first)", err)
	}
	_, err = fmt.Fprintf(s.out, "installed; start it with: vmsbridge service start\n")
	return err
}

func (serviceUninstall) Run(s streams) error {
	manager, err := serviceManager(service.Config{})
	if err != nil {
		return err
	}
	if status, err := manager.Status(); err == nil && status == service.StatusRunning {
		if err := manager.Stop(); err != nil {
			return fmt.Errorf("stop the service: %w", err)
		}
	}
	if err := manager.Uninstall(); err != nil {
		return fmt.Errorf("uninstall the service: %w (it needs root)", err)
	}
	_, err = fmt.Fprintln(s.out, "uninstalled; data and configuration are still there")
	return err
}

func (serviceAction) Run(called *kong.Context) error {
	action := called.Selected().Name
	manager, err := serviceManager(service.Config{})
	if err != nil {
		return err
	}
	if err := service.Control(manager, action); err != nil {
		return fmt.Errorf("%s the service: %w (it needs root; journalctl -u %s says more)", action, err, serviceName)
	}
	return nil
}

func (c serviceStatus) Run(s streams) error {
	manager, err := serviceManager(service.Config{})
	if err != nil {
		return err
	}
	word := map[service.Status]string{service.StatusRunning: "running", service.StatusStopped: "stopped"}
	status, err := manager.Status()
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		word[status] = "not installed"
	case err != nil && strings.Contains(err.Error(), "failed state"): // the manager answers, and this is what it says
		word[status] = "failed; journalctl -u " + serviceName + " says why"
	case err != nil:
		return fmt.Errorf("ask for the service: %w (does systemd run here?)", err)
	}
	said := func() error { _, err := fmt.Fprintln(s.out, word[status]); return err }
	if c.JSON {
		said = func() error {
			return cli.JSON(s.out, map[string]any{"running": status == service.StatusRunning, "state": word[status]})
		}
	}
	if err := said(); err != nil {
		return err
	}
	if status != service.StatusRunning {
		return cli.Exit(exitFailed, nil)
	}
	return nil
}

// serviceManager is the system's, with what every action must know.
func serviceManager(c service.Config) (service.Service, error) {
	c.Name, c.DisplayName, c.Description = serviceName, "vmsbridge", configs.UnitDescription
	s, err := service.New(nil, &c)
	if err != nil {
		return nil, fmt.Errorf("find a service manager: %w (run `vmsbridge run` under your own)", err)
	}
	return s, nil
}

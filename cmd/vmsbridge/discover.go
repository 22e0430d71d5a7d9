package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"vmsbridge/agent/discover"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

type discoverCommand struct {
	Hosts        []string      `arg:"" optional:"" name:"host" help:"Ask these cameras instead of searching: an address, host:port, or the whole http://… of the ONVIF service." placeholder:"HOST"`
	User         string        `short:"u" help:"User name for ONVIF. The password is asked for, or taken from --password-file or $VMSBRIDGE_CAMERA_PASSWORD." placeholder:"NAME"`
	PasswordFile string        `help:"File with the password." placeholder:"FILE"`
	Interface    []string      `short:"i" help:"Search on this network interface only; may be repeated." placeholder:"NAME"`
	Wait         time.Duration `default:"4s" help:"How long to wait for cameras to answer."`
	Yes          bool          `short:"y" help:"With --user and a search: sign in at every device that answers, without asking. Whoever answers is told the user name and a digest of the password."`
	Add          bool          `help:"Add the cameras that let the user in to the configuration file, with the password in a file of its own beside it."`
	JSON         bool          `name:"json" help:"Print JSON, without passwords."`
	configFile
}

// asking bounds how many cameras are asked at a time.
const asking = 8

// finding is one camera and what it said.
type finding struct {
	device discover.Device
	camera discover.Camera
	err    error // why its streams are not known
}

// Run searches, asks, and prints sections that can be pasted below `cameras:`.
func (c *discoverCommand) Run(ctx context.Context, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.Add && (c.User == "" || c.JSON) {
		return cli.Exit(exitUsage, errors.New("--add needs --user, and cannot be combined with --json"))
	}
	devices, err := c.devices(ctx, s)
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		return errors.New("no camera answered: is this machine in the cameras' network, and is ONVIF switched on " +
			"in them? " +
			"A camera whose address is known can be asked by it: vmsbridge discover 10.0.0.5")
	}
	who, secret, err := c.credentials(devices, s)
	if err != nil {
		return err
	}
	found := askAll(ctx, devices, who)
	switch {
	case ctx.Err() != nil:
		return cli.Exit(exitAborted, errors.New("discover: interrupted"))
	case c.JSON:
		return printFindings(found, s)
	}
	c.table(found, s)
	sections := makeSections(found, c.User, secret != "")
	switch {
	case len(sections) > 0:
	case c.User == "":
		return errors.New("no camera told its streams; give its ONVIF user with --user NAME")
	default:
		return fmt.Errorf("no camera told its streams to %s, so there is none to add: the lines above say why", c.User)
	}
	if c.Add {
		return c.add(sections, secret, s)
	}
	for _, section := range sections {
		_, _ = fmt.Fprintf(s.out, "\n%s", configs.Section(section.camera, section.comment))
	}
	if secret != "" {
		_, _ = fmt.Fprintf(s.err, "\nPaste what you want below `cameras:`, and put the password into the files named "+
			"there; or let --add do both.\n")
	}
	return nil
}

// devices are those named, or those that answer a search.
func (c *discoverCommand) devices(ctx context.Context, s streams) ([]discover.Device, error) {
	var list []discover.Device
	for _, host := range c.Hosts {
		address := host
		if !strings.Contains(host, "://") {
			if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
				host = "[" + host + "]"
			}
			address = discover.ServiceAddress(host)
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.User != nil {
			return nil,
				cli.Exit(exitUsage,
					errors.New("an address must look like 10.0.0.5, 10.0.0.5:8080 or "+
						"http://10.0.0.5/onvif/device_service, without user name and password"))
		}
		ip, _ := netip.ParseAddr(u.Hostname())
		list = append(list, discover.Device{ID: u.Host, Host: ip, Addresses: []string{address}})
	}
	if len(list) > 0 {
		return list, nil
	}
	_, _ = fmt.Fprintf(s.err, "Searching for %v …\n", c.Wait)
	return discover.Search(ctx, discover.Options{Wait: c.Wait, Interfaces: c.Interface})
}

// askAll asks all of them, some at a time, and signs in with the credentials of the same place in
// who. An address that cannot be reached is followed by the camera's next one.
func askAll(ctx context.Context, devices []discover.Device, who []discover.Credentials) []finding {
	found := make([]finding, len(devices))
	var wg sync.WaitGroup
	free := make(chan struct{}, asking)
	for i, d := range devices {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			f := finding{device: d, err: errors.New("it tells no address that can be asked")}
			for _, address := range d.Addresses {
				f.camera, f.err = discover.Ask(ctx, address, who[i])
				if netErr := net.Error(nil); f.err == nil || !errors.As(f.err, &netErr) {
					break
				}
			}
			found[i] = f
		})
	}
	wg.Wait()
	return found
}

// host is how a person names the device.
func (f *finding) host() string {
	if f.device.Host.IsValid() {
		return f.device.Host.String()
	}
	return f.device.ID
}

// name is the best that is known.
func (f *finding) name() string {
	if f.device.Name != "" {
		return f.device.Name
	}
	return strings.TrimSpace(f.camera.Manufacturer + " " + f.camera.Model)
}

// table says who is there, as comments, so that all of the output can be pasted.
func (c *discoverCommand) table(found []finding, s streams) {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, f := range found {
		state := ""
		switch {
		case f.err != nil:
			state = f.err.Error()
		default:
			var streams []string
			for _, p := range f.camera.Profiles {
				streams = append(streams, fmt.Sprintf("%s %dx%d", p.Encoding, p.Width, p.Height))
			}
			state = strings.Join(streams, ", ")
			if off := f.camera.ClockAhead; off.Abs() > 5*time.Second {
				state += fmt.Sprintf("; its clock is off by %v", off)
			}
		}
		_, _ = fmt.Fprintf(w, "# %s\t%s\t%s\t%s\n", f.host(), f.name(), f.device.Hardware, state)
	}
	_ = w.Flush()
}

// printFindings is --json: one object a line.
func printFindings(found []finding, s streams) error {
	type stream struct {
		Profile       string  `json:"profile"`
		Encoding      string  `json:"encoding,omitempty"`
		Width, Height int     `json:",omitempty"`
		Rate          float64 `json:"picturesPerSecond,omitempty"`
		URL           string  `json:"url"`
	}
	e := json.NewEncoder(s.out)
	for _, f := range found {
		line := struct {
			Host       string   `json:"host"`
			ID         string   `json:"id,omitempty"`
			Name       string   `json:"name,omitempty"`
			Hardware   string   `json:"hardware,omitempty"`
			Addresses  []string `json:"addresses"`
			Serial     string   `json:"serial,omitempty"`
			ClockAhead float64  `json:"clockAheadSeconds,omitempty"`
			Streams    []stream `json:"streams,omitempty"`
			Problem    string   `json:"problem,omitempty"`
		}{f.host(), f.device.ID, f.name(), f.device.Hardware, f.device.Addresses, f.camera.Serial,
			f.camera.ClockAhead.Seconds(), nil, ""}
		for _, p := range f.camera.Profiles {
			line.Streams = append(line.Streams, stream{p.Name, p.Encoding, p.Width, p.Height, p.Rate, p.URL})
		}
		if f.err != nil {
			line.Problem = f.err.Error()
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

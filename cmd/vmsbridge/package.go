package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/agent/api"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

// packageCommand prints what packages ship beside the program, made by the program, so that it
// cannot say anything else.
type packageCommand struct {
	What    string    `arg:"" enum:"man,keys,unit,first,page" help:"man: the manual page; keys: that of the YAML, of the reference on standard input; unit: the systemd unit; first: the configuration of a first start; page: where the page is, and the code of the first user."`
	Release string    `help:"Version, for the manual page." default:"${version}"`
	Date    time.Time `help:"Day of the release, for the manual page." format:"2006-01-02" default:"1970-01-01"`
}

func (c *packageCommand) Run(app *kong.Kong, s streams) error {
	switch c.What {
	case "man":
		return cli.ManPage(s.out, app.Model.Node,
			cli.ManFacts{Version: c.Release, Date: c.Date, Exit: exits, Env: variables,
				Files: files, Shown: examples, See: []string{"vmsbridge.yaml(5)", "systemctl(1)", "journalctl(1)"}})
	case "keys":
		return cli.ManKeys(s.out, s.in, "vmsbridge.yaml", cli.ManFacts{Version: "vmsbridge " + c.Release, Date: c.Date,
			Files: files[:2], See: []string{"vmsbridge(1)"}})
	case "first":
		_, err := s.out.Write(configs.First("", ""))
		return err
	case "page":
		return c.page(s)
	default:
		unit, err := configs.Unit("/usr/bin/vmsbridge", defaultConfig, "vmsbridge")
		if err != nil {
			return fmt.Errorf("print unit: %w", err)
		}
		_, err = io.WriteString(s.out, unit)
		return err
	}
}

// firstWait is how long a bridge that was just started may take to make the code of its first user.
const firstWait = 20 * time.Second

// page says where the page of the bridge that was just installed is, and what opens it.
func (c *packageCommand) page(s streams) error {
	cfg, err := configs.Load(defaultConfig)
	if err != nil {
		return noConfig(err)
	}
	addr, err := net.ResolveTCPAddr("tcp", cfg.API.Listen)
	if err != nil {
		return fmt.Errorf("read api.listen: %w", err)
	}
	for end := time.Now().Add(firstWait); firstCode(cfg) == "" && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	if firstCode(cfg) == "" {
		_, _ = fmt.Fprintln(s.out, "The bridge has made no code for its first user yet; vmsbridge status says "+
			"how it is.")
	}
	sayWhere(cfg, addr, os.Getenv(frontend) != "", s)
	return nil
}

// sayWhere says where the page is. What is logged is told the file with the code, not the code.
func sayWhere(cfg *configs.Config, addr net.Addr, logged bool, s streams) {
	code := firstCode(cfg)
	if !logged || code == "" {
		sayPages(pages(cfg, addr), code, s)
		return
	}
	sayPages(pages(cfg, addr), "", s)
	_, _ = fmt.Fprintf(s.out, "It asks for the code of the first user: sudo cat %s\n",
		filepath.Join(cfg.Bridge.Data, api.FirstUserFile))
}

// frontend is set by apt, which writes what packages say into a log of its own: that is not told
// the code. dpkg alone leaves it to the terminal.
const frontend = "DPKG_FRONTEND_LOCKED"

// files are where a package puts what the bridge reads and writes.
var files = []cli.ManRow{
	{Name: defaultConfig, Use: "The configuration, see vmsbridge.yaml(5). The page adds cameras to it. Without it " +
		"the service waits."},
	{Name: "/etc/vmsbridge/vmsbridge.example.yaml", Use: "Every key of the configuration, explained."},
	{Name: "/etc/vmsbridge/secrets", Use: "Passwords that discover --add and the page write."},
	{Name: "/var/lib/vmsbridge", Use: "Events and stills. Removing the package leaves them, purging it does not."},
	{Name: "/usr/lib/vmsbridge", Use: "The libavcodec that comes with the bridge and is preferred to the system's."},
}

var exits = []cli.ManRow{
	{Name: "0", Use: "Done. status: all is well. fsck: all is in order, or is so after --repair."},
	{Name: "1", Use: "It did not work; standard error says why and what to do."},
	{Name: "2", Use: "replay --strict: the score is not perfect."},
	{Name: "3", Use: "status: something is wrong. fsck: something is wrong and was left."},
	{Name: "64", Use: "The command line is wrong."},
	{Name: "78", Use: "The configuration is bad, or there is none. The service manager does not start it again."},
	{Name: "130", Use: "Aborted, by a second signal or because a question got no answer."},
}

// variables are those that stand for no flag.
var variables = []cli.ManRow{
	{Name: "VMSBRIDGE_CAMERA_PASSWORD", Use: "Password of probe and discover, instead of --password-file."},
	{Name: configs.TokenVariable, Use: "The service's token, where the configuration names none."},
}

var examples = []cli.ManRow{
	{Name: "sudo vmsbridge discover -u viewer --add",
		Use: "Find the cameras of the network and write them into the configuration:"},
	{Name: "vmsbridge probe 192.168.1.20 -u viewer", Use: "See what a camera offers, by its address alone:"},
	{Name: "sudo vmsbridge check && sudo systemctl restart vmsbridge",
		Use: "Check the configuration, and begin with it:"},
	{Name: "sudo vmsbridge status", Use: "See what is wrong, and what to do about it:"},
	{Name: "sudo vmsbridge events --since yesterday --type motion", Use: "List the motions since yesterday:"},
	{Name: "sudo vmsbridge image --camera gate --before 10m -o gate.jpg", Use: "Fetch the picture of ten minutes ago:"},
}

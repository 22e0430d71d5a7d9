package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/control"
	"vmsbridge/agent/health"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/storage/guard"
)

type statusCommand struct {
	JSON bool   `name:"json" help:"Print JSON."`
	Data string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (statusCommand) Help() string {
	return `Says how the bridge is, what is wrong first and what to do about it. It asks the running bridge, which needs no token for root
and for the bridge's own user; where none runs, it looks for the reason.

Exit codes: 0 all is well; 1 it could not be found out; 3 something is wrong, or the bridge does not run; 78 there is no configuration.`
}

func (c *statusCommand) Run(ctx context.Context, s streams) error {
	r, err := site{c.configFile, c.Data}.report(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		err = cli.JSON(s.out, r)
	} else {
		err = r.Print(s.out)
	}
	if err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if _, missing := os.Stat(c.Config); !r.Running && c.Data == "" && missing != nil {
		return noConfig(missing)
	}
	if len(r.Problems) > 0 {
		return cli.Exit(exitWrong, nil)
	}
	return nil
}

// site is a bridge on this machine, running or not, whose configuration may be bad.
type site struct {
	configFile
	named string // its data folder; "": the configuration's
}

// data is the bridge's data folder, so far as it can be known.
func (b site) data() string {
	if b.named != "" {
		return b.named
	}
	content, err := os.ReadFile(b.Config)
	if err != nil {
		return configs.Default().Bridge.Data
	}
	return configs.DataFolder(b.Config, content)
}

// down says what to do about a bridge that does not run: where it has no configuration, that.
func (b site) down(err error) error {
	if _, missing := os.Stat(b.Config); b.named == "" && missing != nil {
		return noConfig(missing)
	}
	return fmt.Errorf("%w; start it with: vmsbridge service start", err)
}

// errNotAllowed is that the control socket of a running bridge is closed to the caller.
var errNotAllowed = errors.New("only root and the bridge's own user may ask it: say sudo vmsbridge …")

// answerWithin is how long a bridge may take to say how it is. One that is well, on a slow disk and
// a busy machine, takes less than a second.
const answerWithin = 10 * time.Second

// errSilent is that a bridge runs, for its socket takes connections, and does not answer.
var errSilent = fmt.Errorf("the bridge runs and does not answer within %v: it hangs, is stopped or has no file "+
	"descriptors left, or the machine is overloaded; look at its log (journalctl -u vmsbridge), then restart it "+
	"(vmsbridge service restart)", answerWithin)

// ask asks the running bridge. The error wraps control.ErrNotRunning where none runs.
func (b site) ask(ctx context.Context, method, path string, question []byte) ([]byte, error) {
	if method == http.MethodGet { // a change may take longer
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, answerWithin, errSilent)
		defer cancel()
	}
	if b.named == "" {
		if _, err := os.ReadFile(b.Config); errors.Is(err, fs.ErrPermission) {
			return nil, errNotAllowed // and where its socket is cannot be known
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, control.URL+path, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	res, err := control.Client(b.data()).Do(req)
	if errors.Is(err, fs.ErrPermission) {
		return nil, errNotAllowed
	}
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return nil, errSilent
	}
	if call, ok := errors.AsType[*url.Error](err); ok {
		err = call.Err // the address of the control socket helps nobody
	}
	if err != nil {
		return nil, fmt.Errorf("ask the bridge: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(body)))
	}
	if err != nil {
		return nil, fmt.Errorf("ask the bridge: %w", err)
	}
	return body, nil
}

// errNoSocket is that a bridge runs, for its journal is held, and there is no socket to ask it by.
var errNoSocket = errors.New("the bridge, or vmsbridge fsck, has this data folder open, and its control socket is " +
	"not there: it is starting or stopping, or its disk has no room for the socket, or somebody removed that; the " +
	"log says more (journalctl -u vmsbridge), and vmsbridge service restart makes it anew")

// held reports whether a program has the bridge's journal open.
func (b site) held() bool {
	path := filepath.Join(b.data(), archive.JournalFile)
	if guard.Exists(path) != nil {
		return false
	}
	lock, err := guard.Lock(path, 0)
	if err == nil {
		_ = lock.Close() // nothing was written
	}
	return errors.Is(err, guard.ErrLocked)
}

// report is the running bridge's own, or what can be seen from outside.
func (b site) report(ctx context.Context) (health.Report, error) {
	body, err := b.ask(ctx, http.MethodGet, "/status", nil)
	if errors.Is(err, control.ErrNotRunning) {
		if b.held() {
			return health.Report{}, errNoSocket
		}
		return b.seen(ctx)
	}
	var r health.Report
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return r, err
	}
	if time.Since(r.Time) > time.Hour {
		return r, errors.New("ask the bridge: its answer is old")
	}
	return r, nil
}

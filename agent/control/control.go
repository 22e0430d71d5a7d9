// Package control is the socket through which the owner of the bridge's data folder, and root, ask
// the running bridge how it is and what it has not reported yet, or have it read its configuration
// anew: HTTP over a unix socket in that folder. The kernel asks for the write permission on the
// socket file (unix(7)), which only its owner and root have, so nobody types a token.
//
//	l, err := control.Listen(cfg.Bridge.Data)        // the bridge
//	res, err := control.Client(data).Get(control.URL + "/status") // vmsbridge status
package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Socket is the socket's name in the data folder.
const Socket = "control.sock"

// URL is what paths are appended to in a request.
const URL = "http://bridge"

// Listen makes the socket. One that a bridge left behind is replaced: the caller must know that no
// other bridge uses the folder, as it does while it holds the journal. Closing the listener removes
// the file.
func Listen(data string) (l net.Listener, err error) {
	// It gets its rights in a folder that nobody else may enter, and then its place.
	private, err := os.MkdirTemp(data, ".control-")
	if err != nil {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	path, dir, err := short(private)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	inner, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("make the control socket in %s: %w", data, err)
	}
	inner.(*net.UnixListener).SetUnlinkOnClose(false) // by the short path, which has another meaning by then
	made, file := filepath.Join(private, Socket), filepath.Join(data, Socket)
	if err = errors.Join(os.Chmod(made, 0o600), os.Rename(made, file)); err != nil {
		return nil, errors.Join(fmt.Errorf("put the control socket in its place: %w", err), inner.Close())
	}
	return &listener{inner, file}, nil
}

type listener struct {
	net.Listener
	file string
}

// Close removes the socket's file first, so that nobody is refused by a file without a bridge.
func (l *listener) Close() error {
	return errors.Join(ignoreMissing(os.Remove(l.file)), l.Listener.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Client asks the bridge of a data folder. Its requests fail with an error that wraps ErrNotRunning
// where none runs, and fs.ErrPermission where the caller may not ask.
func Client(data string) *http.Client {
	return &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				path, dir, err := short(data)
				if err != nil {
					return nil, err
				}
				defer dir.Close()
				conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
				if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
					return nil, fmt.Errorf("%w (%s)", ErrNotRunning, filepath.Join(data, Socket))
				}
				return conn, err
			}}}
}

// ErrNotRunning is that no bridge runs on a data folder.
var ErrNotRunning = errors.New("no bridge runs on this data folder")

// short is a path of the socket that fits into the 107 bytes that a socket's address has, however
// long the folder's own is: by way of the open folder. dir must be closed when the path was used.
func short(data string) (path string, dir *os.File, err error) {
	dir, err = os.Open(data)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), Socket), dir, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// A running vmscloud holds the lock of its identity file, so the commands reach it through a socket
// in the data folder. Who may open that folder may do this; there is no other check.

// adminRequest and adminAnswer are the JSON bodies of POST /tokens on the socket.
type adminRequest struct {
	// Do is create, revoke or tokens; accounts; users, and "user-" with what userCmd can do;
	// bridges, and what is to be released: bridge or camera.
	Do      string      `json:"do"`
	Token   model.Token `json:"token,omitzero"`
	ID      string      `json:"id,omitempty"`
	What    string      `json:"what,omitempty"`
	Account string      `json:"account,omitempty"` // of what to release; "": whichever has one of that id
}

type adminAnswer struct {
	Token    model.Token     `json:"token,omitzero"`
	Secret   string          `json:"secret,omitempty"`
	Tokens   []model.Token   `json:"tokens,omitempty"`
	Accounts []model.Account `json:"accounts,omitempty"`
	Users    []model.User    `json:"users,omitempty"`
	Devices  []deviceShown   `json:"devices,omitempty"`
	Consents []consentShown  `json:"consents,omitempty"`
	Bridges  []registry.Held `json:"bridges,omitempty"`
	Known    []string        `json:"known,omitempty"` // the ids that there are, where one was not found
	Error    string          `json:"error,omitempty"`
	NotFound bool            `json:"notFound,omitempty"`
}

// adminHandler serves the socket.
func adminHandler(ids *store.Store, reg *registry.Registry, events *journal.Journal, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /backup", backupAdmin(ids, reg, events, log))
	mux.HandleFunc("POST /tokens", func(w http.ResponseWriter, r *http.Request) {
		var req adminRequest
		var a adminAnswer
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req)
		if err == nil {
			a, err = adminDo(ids, reg, req)
		}
		if err != nil {
			a = adminAnswer{Known: a.Known, Error: err.Error(), NotFound: errors.Is(err, identity.ErrNotFound)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // the command may be gone
	})
	return mux
}

func adminDo(ids *store.Store, reg *registry.Registry, req adminRequest) (a adminAnswer, err error) {
	switch req.Do {
	case "create":
		a.Token, a.Secret, err = ids.CreateToken(req.Token)
	case "revoke":
		a.Token, err = ids.RevokeToken(req.ID)
	case "tokens":
		a.Tokens, err = ids.Tokens()
	case "accounts":
		a.Accounts, err = ids.Accounts()
	case "users":
		a.Users, err = ids.Users(req.ID)
	case "bridges":
		a.Bridges, err = reg.List()
	case "bridge":
		if err = reg.Release(req.Account, req.ID); errors.Is(err, identity.ErrNotFound) {
			a.Known, _ = reg.IDs(req.Account)
		}
	case "camera":
		if err = reg.ReleaseCamera(req.Account, req.ID); errors.Is(err, identity.ErrNotFound) {
			_, a.Known = reg.IDs(req.Account)
		}
	default:
		verb, ok := strings.CutPrefix(req.Do, "user-")
		if !ok {
			return a, fmt.Errorf("unknown request %q", req.Do)
		}
		a, err = changeUser(ids, verb, req.ID, req.What)
	}
	return a, err
}

// missing is a sentence for a person about what is not there. It is an identity.ErrNotFound.
type missing string

func (m missing) Error() string { return string(m) }

func (missing) Is(target error) bool { return target == identity.ErrNotFound }

// begunWithin is how long a command waits for a service that has the files and answers nothing.
const begunWithin = 5 * time.Second

// asker has a request done.
type asker func(adminRequest) (adminAnswer, error)

// admin has requests of a command done by the running vmscloud if there is one, else here, with
// what that keeps.
func (f storeFlag) admin(do func(ask asker) error) (err error) {
	if err := f.exists(); err != nil {
		return err
	}
	if c := dialAdmin(filepath.Join(f.Data, adminSocket)); c != nil {
		defer c.CloseIdleConnections()
		return do(func(req adminRequest) (adminAnswer, error) { return askRunning(c, req) })
	}
	s, err := openIdentity(f)
	// A service that begins or ends has the files and no socket.
	for end := time.Now().Add(begunWithin); errors.Is(err, database.ErrLocked) && time.Now().Before(end); {
		if c := dialAdmin(filepath.Join(f.Data, adminSocket)); c != nil {
			defer c.CloseIdleConnections()
			return do(func(req adminRequest) (adminAnswer, error) { return askRunning(c, req) })
		}
		s, err = openIdentity(f) // which waits a second for the files
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return do(func(req adminRequest) (a adminAnswer, err error) {
		if s.reg == nil && (req.Do == "bridges" || req.Do == "bridge" || req.Do == "camera") {
			if err := f.openRegistry(s, slog.New(slog.DiscardHandler)); err != nil {
				return a, err
			}
			s.reg.Holds = s.ids.HolderStands
		}
		return adminDo(s.ids, s.reg, req)
	})
}

// maxSocketPath is what Linux allows for the path of a socket.
const maxSocketPath = 107

// listenAdmin makes the socket in the data folder.
func (f storeFlag) listenAdmin() (net.Listener, error) {
	if f.Store != "" {
		_ = os.MkdirAll(f.Data, 0o700) // without it the next line fails, and says so
	}
	return listenAdmin(filepath.Join(f.Data, adminSocket))
}

// listenAdmin makes the socket. The caller holds the identity file's lock, so a socket that is
// there was left behind.
func listenAdmin(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("its path is longer than %d characters", maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dialAdmin is a client of the running vmscloud, nil if nobody listens.
func dialAdmin(path string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil
	}
	_ = conn.Close() // it was only to see
	return &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 15 * time.Second}
}

func askRunning(c *http.Client, req adminRequest) (a adminAnswer, err error) {
	body, err := json.Marshal(req)
	if err != nil {
		return a, err
	}
	res, err := c.Post("http://vmscloud/tokens", "application/json", bytes.NewReader(body))
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		err = json.NewDecoder(io.LimitReader(res.Body, 64<<20)).Decode(&a)
	}
	switch {
	case res != nil && res.StatusCode == http.StatusServiceUnavailable:
		return a, errors.New("nothing was done: no node leads at this moment; do it again")
	case res != nil && res.StatusCode != http.StatusOK:
		return a, fmt.Errorf("nothing was done: the running vmscloud answers %s; is it of another version?", res.Status)
	case err != nil:
		return a, fmt.Errorf("ask the running vmscloud: %w", err)
	case a.NotFound:
		return a, missing(a.Error)
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}

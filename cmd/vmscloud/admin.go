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
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// A running vmscloud holds the lock of its identity file, so the token commands reach it through a
// socket in the data folder. Who may open that folder may do this; there is no other check.

// adminRequest and adminAnswer are the JSON bodies of POST /tokens on the socket.
type adminRequest struct {
	Do    string      `json:"do"` // create, revoke, tokens, accounts, users
	Token model.Token `json:"token,omitzero"`
	ID    string      `json:"id,omitempty"`
	What  string      `json:"what,omitempty"`
}

type adminAnswer struct {
	Token    model.Token     `json:"token,omitzero"`
	Secret   string          `json:"secret,omitempty"`
	Tokens   []model.Token   `json:"tokens,omitempty"`
	Accounts []model.Account `json:"accounts,omitempty"`
	Users    []model.User    `json:"users,omitempty"`
	Error    string          `json:"error,omitempty"`
	NotFound bool            `json:"notFound,omitempty"`
}

// adminHandler serves the socket.
func adminHandler(ids *store.Store, reg *registry.Registry, events *journal.Journal, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /backup", backupAdmin(ids, reg, events, log))
	mux.HandleFunc("POST /bridges", bridgesAdmin(reg))
	mux.HandleFunc("POST /tokens", func(w http.ResponseWriter, r *http.Request) {
		var req adminRequest
		var a adminAnswer
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req)
		if err == nil {
			a, err = adminDo(ids, req)
		}
		if err != nil {
			a = adminAnswer{Error: err.Error(), NotFound: errors.Is(err, identity.ErrNotFound)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // the command may be gone
	})
	return mux
}

func adminDo(ids *store.Store, req adminRequest) (a adminAnswer, err error) {
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
	default:
		verb, ok := strings.CutPrefix(req.Do, "user-")
		if !ok {
			return a, fmt.Errorf("unknown request %q", req.Do)
		}
		a.Secret, err = changeUser(ids, verb, req.ID, req.What)
	}
	return a, err
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

// adminClient is the identity store of a running vmscloud.
type adminClient struct{ http *http.Client }

// dialAdmin returns nil if nobody listens.
func dialAdmin(path string) *adminClient {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil
	}
	_ = conn.Close() // it was only to see
	return &adminClient{&http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 15 * time.Second}}
}

func (c *adminClient) do(req adminRequest) (adminAnswer, error) {
	var a adminAnswer
	body, err := json.Marshal(req)
	if err != nil {
		return a, err
	}
	res, err := c.http.Post("http://vmscloud/tokens", "application/json", bytes.NewReader(body))
	if err != nil {
		return a, fmt.Errorf("ask the running vmscloud: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(res.Body, 64<<20)).Decode(&a); err != nil {
		return a, fmt.Errorf("ask the running vmscloud: %w", err)
	}
	switch {
	case a.NotFound:
		return a, fmt.Errorf("%s: %w", a.Error, identity.ErrNotFound)
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (c *adminClient) CreateToken(t model.Token) (model.Token, string, error) {
	a, err := c.do(adminRequest{Do: "create", Token: t})
	return a.Token, a.Secret, err
}

func (c *adminClient) RevokeToken(id string) (model.Token, error) {
	a, err := c.do(adminRequest{Do: "revoke", ID: id})
	return a.Token, err
}

func (c *adminClient) Tokens() ([]model.Token, error) {
	a, err := c.do(adminRequest{Do: "tokens"})
	return a.Tokens, err
}

func (c *adminClient) Accounts() ([]model.Account, error) {
	a, err := c.do(adminRequest{Do: "accounts"})
	return a.Accounts, err
}

func (c *adminClient) Users(account string) ([]model.User, error) {
	a, err := c.do(adminRequest{Do: "users", ID: account})
	return a.Users, err
}

func (c *adminClient) ChangeUser(verb, email, what string) (string, error) {
	a, err := c.do(adminRequest{Do: "user-" + verb, ID: email, What: what})
	return a.Secret, err
}

func (c *adminClient) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

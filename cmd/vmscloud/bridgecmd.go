package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
)

type bridgeCmd struct {
	List    bridgeListCmd    `cmd:"" help:"List the bridges, and with which credential each is registered."`
	Release bridgeReleaseCmd `cmd:"" help:"Let the next credential of its account that registers a bridge have it."`
}

// bridgesRequest and bridgesAnswer are the bodies of POST /bridges on the admin socket. No release:
// the list.
type bridgesRequest struct {
	Release string `json:"release,omitempty"`
	Camera  string `json:"camera,omitempty"`  // to release
	Account string `json:"account,omitempty"` // of what to release; "": whichever has one of that id
}

type bridgesAnswer struct {
	Bridges  []registry.Held `json:"bridges,omitempty"`
	Known    []string        `json:"known,omitempty"` // the ids that there are, where one was not found
	Error    string          `json:"error,omitempty"`
	NotFound bool            `json:"notFound,omitempty"`
}

// bridgesAdmin answers it.
func bridgesAdmin(reg *registry.Registry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req bridgesRequest
		var a bridgesAnswer
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req)
		if err == nil {
			a, err = bridges(reg, req)
		}
		if err != nil {
			a = bridgesAnswer{Known: a.Known, Error: err.Error(), NotFound: errors.Is(err, identity.ErrNotFound)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // the command may be gone
	}
}

// bridges does what is asked for.
func bridges(r *registry.Registry, req bridgesRequest) (a bridgesAnswer, err error) {
	switch {
	case req.Release != "":
		err = r.Release(req.Account, req.Release)
	case req.Camera != "":
		err = r.ReleaseCamera(req.Account, req.Camera)
	default:
		a.Bridges, err = r.List()
	}
	if errors.Is(err, identity.ErrNotFound) {
		bridges, cameras := r.IDs(req.Account)
		if a.Known = bridges; req.Camera != "" {
			a.Known = cameras
		}
	}
	return a, err
}

// onBridges asks the running vmscloud if there is one, else what that keeps.
func onBridges(at storeFlag, req bridgesRequest) (a bridgesAnswer, err error) {
	if c := dialAdmin(filepath.Join(at.Data, adminSocket)); c != nil {
		defer func() { _ = c.Close() }()
		return c.bridges(req)
	}
	s, err := openIdentity(at)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := at.openRegistry(s, slog.New(slog.DiscardHandler)); err != nil {
		return a, err
	}
	s.reg.Holds = s.ids.HolderStands
	return bridges(s.reg, req)
}

func (c *adminClient) bridges(req bridgesRequest) (a bridgesAnswer, err error) {
	body, err := json.Marshal(req)
	if err != nil {
		return a, err
	}
	res, err := c.http.Post("http://vmscloud/bridges", "application/json", bytes.NewReader(body))
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		err = json.NewDecoder(io.LimitReader(res.Body, 64<<20)).Decode(&a)
	}
	switch {
	case err != nil:
		return a, fmt.Errorf("ask the running vmscloud: %w", err)
	case a.NotFound:
		return a, identity.ErrNotFound
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}

type bridgeListCmd struct {
	storeFlag
	jsonFlag
}

func (c bridgeListCmd) Run() error {
	a, err := onBridges(c.storeFlag, bridgesRequest{})
	if err != nil {
		return err
	}
	return cli.List(os.Stdout, c.JSON, "ID, NAME, ACCOUNT, HELD BY, CALLED", a.Bridges, func(b registry.Held) []string {
		called := printable(b.Called)
		switch {
		case b.Holder == "":
			b.Holder = "nobody"
		case called == "":
			called = "(ended: the next one may have it)"
		}
		return []string{b.ID, printable(b.Name), b.Account, b.Holder, called}
	})
}

type bridgeReleaseCmd struct {
	storeFlag
	ID      string `arg:"" help:"Id of the bridge."`
	Account string `help:"Account of the bridge, where several have one of that id." placeholder:"ID"`
}

func (c bridgeReleaseCmd) Run() error {
	a, err := onBridges(c.storeFlag, bridgesRequest{Release: c.ID, Account: c.Account})
	if errors.Is(err, identity.ErrNotFound) {
		return cli.Unknown("bridge", c.ID, "the service", a.Known)
	}
	if err != nil {
		return err
	}
	fmt.Printf("The bridge %s is free for the next credential of its account that registers it.\n", printable(c.ID))
	return nil
}

type cameraCmd struct {
	Release cameraReleaseCmd `cmd:"" help:"Let the next other bridge of its account that registers a camera have it, as when a box is swapped."`
}

type cameraReleaseCmd struct {
	storeFlag
	ID      string `arg:"" help:"Id of the camera."`
	Account string `help:"Account of the camera, where several have one of that id." placeholder:"ID"`
}

func (c cameraReleaseCmd) Run() error {
	a, err := onBridges(c.storeFlag, bridgesRequest{Camera: c.ID, Account: c.Account})
	if errors.Is(err, identity.ErrNotFound) {
		return cli.Unknown("camera", c.ID, "the service", a.Known)
	}
	if err != nil {
		return err
	}
	fmt.Printf("The camera %s is free for the next other bridge of its account that registers it.\n", printable(c.ID))
	return nil
}

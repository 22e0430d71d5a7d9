package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"vmsbridge/uplink/identity"
)

type bridgeCmd struct {
	List    bridgeListCmd    `cmd:"" help:"List the bridges, and with which credential each is registered."`
	Release bridgeReleaseCmd `cmd:"" help:"Let the next credential of its account that registers a bridge have it."`
}

// heldBridge is a line of the list.
type heldBridge struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Account string `json:"account"`
	Holder  string `json:"holder"`
	Called  string `json:"called"` // the holder, by people; "" if it is gone
}

// held lists the bridges in the order of their ids.
func (r *registry) held() ([]heldBridge, error) {
	r.mu.RLock()
	var list []heldBridge
	for _, id := range slices.Sorted(maps.Keys(r.bridges)) {
		b := r.bridges[id]
		list = append(list, heldBridge{ID: b.ID, Name: b.Name, Account: b.Account, Holder: b.Holder})
	}
	r.mu.RUnlock()
	for i := range list {
		if list[i].Holder == "" || r.holds == nil {
			continue
		}
		called, stands, err := r.holds(list[i].Holder)
		if err != nil {
			return nil, err
		}
		if stands {
			list[i].Called = called
		}
	}
	return list, nil
}

// release forgets who holds a bridge. identity.ErrNotFound if there is none of that id.
func (r *registry) release(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.bridges[id]
	if !ok {
		return identity.ErrNotFound
	}
	b.Holder = ""
	if err := r.save(b, nil); err != nil {
		return err
	}
	r.bridges[id] = b
	return nil
}

// bridgesRequest and bridgesAnswer are the bodies of POST /bridges on the admin socket. No release: the list.
type bridgesRequest struct {
	Release string `json:"release,omitempty"`
}

type bridgesAnswer struct {
	Bridges  []heldBridge `json:"bridges,omitempty"`
	Error    string       `json:"error,omitempty"`
	NotFound bool         `json:"notFound,omitempty"`
}

// bridgesAdmin answers it.
func bridgesAdmin(reg *registry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req bridgesRequest
		var a bridgesAnswer
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req)
		if err == nil {
			a, err = reg.admin(req)
		}
		if err != nil {
			a = bridgesAnswer{Error: err.Error(), NotFound: errors.Is(err, identity.ErrNotFound)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // the command may be gone
	}
}

func (r *registry) admin(req bridgesRequest) (a bridgesAnswer, err error) {
	if req.Release != "" {
		return a, r.release(req.Release)
	}
	a.Bridges, err = r.held()
	return a, err
}

// onBridges asks the running vmscloud if there is one, else the files.
func onBridges(dir string, req bridgesRequest) (a bridgesAnswer, err error) {
	if c := dialAdmin(filepath.Join(dir, adminSocket)); c != nil {
		defer func() { _ = c.Close() }()
		return c.bridges(req)
	}
	ids, err := openIdentity(dir)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, ids.Close()) }()
	reg, err := openRegistry(filepath.Join(dir, registryFile))
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	reg.holds = ids.HolderStands
	return reg.admin(req)
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
	dataFlag
}

func (c bridgeListCmd) Run() error {
	a, err := onBridges(c.Data, bridgesRequest{})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tACCOUNT\tHELD BY\tCALLED")
	for _, b := range a.Bridges {
		called := printable(b.Called)
		switch {
		case b.Holder == "":
			b.Holder = "nobody"
		case called == "":
			called = "(ended: the next one may have it)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", b.ID, printable(b.Name), b.Account, b.Holder, called)
	}
	return w.Flush()
}

type bridgeReleaseCmd struct {
	dataFlag
	ID string `arg:"" help:"Id of the bridge."`
}

func (c bridgeReleaseCmd) Run() error {
	_, err := onBridges(c.Data, bridgesRequest{Release: c.ID})
	if errors.Is(err, identity.ErrNotFound) {
		return fmt.Errorf("there is no bridge %q; see: vmscloud bridge list --data %s", c.ID, c.Data)
	}
	if err != nil {
		return err
	}
	fmt.Printf("The bridge %s is free for the next credential of its account that registers it.\n", printable(c.ID))
	return nil
}

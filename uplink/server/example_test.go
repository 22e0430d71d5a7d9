package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// site is an account with one camera.
type site struct{}

func (site) CameraIDs(_, _ string) []string { return []string{"gate"} }

func (site) CameraOf(_, id string) (vms.Camera, bool) {
	return vms.Camera{ID: id, Name: "Gate"}, id == "gate"
}

func (site) HasActor(_ context.Context, _ string, a vms.Actor) (bool, error) {
	return a.ID == "gate", nil
}

// A handler over a journal: the events of the cameras that a token may see.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	events, err := journal.Open(filepath.Join(dir, "events.db"), journal.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = events.Close() }()
	tokens := identity.NewFixed()
	if err := tokens.Add("secret", identity.Principal{AccountID: "acc"}); err != nil {
		panic(err)
	}
	handler, err := server.New(server.Options{Events: server.Own{OwnStore: events}, Cameras: site{}, Auth: tokens,
		NotFound: journal.ErrNotFound})
	if err != nil {
		panic(err)
	}

	r := httptest.NewRequest(http.MethodGet, "/api/v3.0/cameras", nil)
	r.Header.Set("Authorization", "Bearer secret")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var list struct {
		Results []vms.Camera `json:"results"`
	}
	err = json.Unmarshal(w.Body.Bytes(), &list)
	fmt.Println(w.Code, err, list.Results[0].ID, list.Results[0].Name)
	// Output: 200 <nil> gate Gate
}

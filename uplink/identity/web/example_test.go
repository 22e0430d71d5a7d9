package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/identity/web"
)

type noDevices struct{}

func (noDevices) Devices(context.Context, string) ([]web.Device, error) { return nil, nil }
func (noDevices) Device(string, string) (d web.Device, ok bool)         { return d, false }

// The handler of /g/ over a new store: nobody can sign in yet.
func Example() {
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ids, err := store.Open(filepath.Join(dir, "identity.db"), store.Options{Volatile: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ids.Close()
	hasher := identity.NewHasher(identity.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, 1)
	sessions := session.New(session.Options{Store: ids, Hasher: hasher})
	handler, err := web.New(web.Options{Store: ids, Sessions: sessions, Devices: noDevices{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest(http.MethodPost, "/g/aaa/authenticate",
		strings.NewReader("username=anna@example.org&password=correct+horse+1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output: 401
}

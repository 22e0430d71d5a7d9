package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/store"
)

// TestACommandThatIsNotDoneFails: a command that reaches no node that leads, or another version,
// must not say that a token is revoked.
func TestACommandThatIsNotDoneFails(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no node leads": func(w http.ResponseWriter, _ *http.Request) { notNow(w, "This node led until a moment ago") },
		"not known":     http.NotFound,
		"empty":         func(http.ResponseWriter, *http.Request) {},
		"no content":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"another": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprint(w, "{}")
		},
	} {
		path := filepath.Join(t.TempDir(), "s")
		l, err := listenAdmin(path)
		require.NoError(t, err)
		s := httptest.NewUnstartedServer(answer)
		require.NoError(t, s.Listener.Close())
		s.Listener = l
		s.Start()
		c := dialAdmin(path)
		require.NotNil(t, c)
		_, err = askRunning(c, adminRequest{Do: "revoke", ID: "t"})
		require.Error(t, err, name)
		c.CloseIdleConnections()
		s.Close()
	}
}

// A command in the second in which the service begins or ends, and has its files without answering,
// waits for it.
func TestACommandWaitsForAServiceThatBegins(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", data, "--account", "demo")
	held, err := store.Open(filepath.Join(data, identityFile), store.Options{})
	require.NoError(t, err)
	released := make(chan error, 1)
	// Longer than an open of the files waits.
	time.AfterFunc(2*time.Second, func() { released <- held.Close() })
	require.Contains(t, must(t, "user", "list", "--data", data), "admin@localhost")
	require.NoError(t, <-released)
}

package tunnel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"vmsbridge/uplink/tunnel"
)

// A service asks a bridge that it cannot reach, through the connection that the bridge made.
func Example() {
	hub := tunnel.NewHub(0, nil)
	defer hub.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hub.Serve(w, r, "gatehouse", tunnel.Told{}) // after it has found out who asks
	}))
	defer service.Close()

	bridge, err := tunnel.New(tunnel.Options{URL: service.URL, Bridge: "gatehouse",
		Token:   func(context.Context) (string, error) { return "secret", nil },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = bridge.Run(ctx) }()
	defer func() { cancel(); <-done }()

	for !hub.Stands("gatehouse") {
		time.Sleep(time.Millisecond)
	}
	transport, _ := hub.Transport("gatehouse")
	res, err := (&http.Client{Transport: transport}).Get("http://bridge/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Println(string(body), err)
	// Output: hello <nil>
}

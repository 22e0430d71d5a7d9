package admit_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	"vmsbridge/uplink/admit"
)

// A server that takes a hundred connections, ten of one address.
func ExampleNew() {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewUnstartedServer(admit.Bodies(http.NotFoundHandler()))
	server.Listener.Close()
	server.Listener = admit.New(inner, admit.Options{Total: 100, PerAddress: 10})
	server.Start()
	defer server.Close()
	res, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode)
	// Output: 404
}

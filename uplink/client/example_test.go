package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// A token that the service does not take.
func ExampleClient_User() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer service.Close()
	c, err := client.New(client.Options{BaseURL: service.URL, Token: client.Token("wrong")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_, err = c.User(context.Background())
	var unauthorized *vms.UnauthorizedError
	fmt.Println(errors.As(err, &unauthorized))
	// Output: true
}

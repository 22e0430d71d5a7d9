//go:build heldanswers

package server

import (
	"net/http"

	"vmsbridge/uplink/server/openapitest"
)

// held holds answers against the OpenAPI document, in the programs of the end-to-end tests alone.
func held(h http.Handler) http.Handler { return openapitest.Handler(h) }

package server

import (
	"os"
	"testing"

	"vmsbridge/uplink/server/openapitest"
)

// Every answer is held against the document. With -v the tests of each endpoint and argument are
// printed, as lines of a table.
func TestMain(m *testing.M) { os.Exit(openapitest.Run(m)) }

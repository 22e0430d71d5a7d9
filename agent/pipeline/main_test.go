package pipeline

import (
	"os"
	"testing"

	"vmsbridge/agent/codec"
)

func TestMain(m *testing.M) {
	codec.RunWorker() // the tests' decoder processes are this binary
	os.Exit(m.Run())
}

package manual_test

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"vmsbridge/cmd/manual"
)

// The completion of a program's only command.
func ExampleBash() {
	var cli struct {
		Run struct{} `cmd:"" help:"Run."`
	}
	var script strings.Builder
	err := manual.Bash(&script, kong.Must(&cli, kong.Name("tool")).Model.Node)
	fmt.Println(strings.Contains(script.String(), "complete"), err)
	// Output: true <nil>
}

package cli_test

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"vmsbridge/cmd/cli"
)

// The manual page of a program's only command.
func ExampleManPage() {
	var commands struct {
		Run struct{} `cmd:"" help:"Run."`
	}
	var page strings.Builder
	err := cli.ManPage(&page, kong.Must(&commands, kong.Name("tool")).Model.Node, cli.ManFacts{Version: "1.2.0"})
	fmt.Println(strings.Contains(page.String(), ".SS run\nRun."), err)
	// Output: true <nil>
}

package configs

import (
	"fmt"
	"strings"
)

// First is the configuration that a bridge begins with: no camera yet, and a page on the network
// that nobody gets into without the bridge's code. data is the folder of stills and events, "" the
// usual one; listen is where the page is, "" the usual port on all addresses.
func First(data, listen string) []byte {
	var b strings.Builder
	b.WriteString("# The configuration of this bridge. Its page adds cameras here and leaves the rest as it is;\n" +
		"# every other key is explained in vmsbridge.example.yaml and `man vmsbridge.yaml`.\n")
	if data != "" {
		fmt.Fprintf(&b, "bridge:\n  data: %s\n", scalarText(data))
	}
	if listen == "" {
		listen = "0.0.0.0:8480"
	}
	fmt.Fprintf(&b, "api:\n  listen: %s\n  tls: auto\n", scalarText(listen))
	return []byte(b.String())
}

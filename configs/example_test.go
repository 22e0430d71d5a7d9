package configs_test

import (
	"errors"
	"fmt"

	"vmsbridge/configs"
)

// Every problem of a file, with its place.
func ExampleParse() {
	_, err := configs.Parse("vmsbridge.yaml", []byte("cameras:\n  - {id: gate, ulr: 'rtsp://10.0.0.5/'}\n"))
	var problems configs.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Println(p)
		}
	}
	// Output: vmsbridge.yaml:2:16: cameras[0].ulr: unknown key, did you mean "url"?
}

package camera_test

import (
	"fmt"

	"vmsbridge/agent/camera"
)

// What is wrong with an address is said before anything is dialled.
func ExampleNew() {
	_, err := camera.New(camera.Config{Camera: "gate", Stream: "main", URL: "http://10.0.0.5/"}, nil, nil)
	fmt.Println(err)
	// Output:
	// configure camera "gate": read url "http://10.0.0.5/": the scheme must be rtsp or rtsps
}

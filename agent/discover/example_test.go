package discover_test

import (
	"fmt"

	"vmsbridge/agent/discover"
)

// Where a camera that is known by its host answers ONVIF.
func ExampleServiceAddress() {
	fmt.Println(discover.ServiceAddress("10.0.0.5"))
	// Output: http://10.0.0.5/onvif/device_service
}

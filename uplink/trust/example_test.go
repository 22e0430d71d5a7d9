package trust_test

import (
	"fmt"

	"vmsbridge/uplink/trust"
)

// A fingerprint that is none is said before anything is dialled.
func ExampleNew() {
	_, err := trust.New("", "12:34")
	fmt.Println(err != nil)
	// Output: true
}

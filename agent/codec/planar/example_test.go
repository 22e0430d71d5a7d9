package planar_test

import (
	"fmt"

	"vmsbridge/agent/codec/planar"
)

// The size in which the detector looks at a camera's pictures.
func ExampleFit() {
	fmt.Println(planar.Fit(1920, 1080, 320*180))
	fmt.Println(planar.Fit(640, 480, 320*180))
	// Output:
	// 320 180
	// 276 207
}

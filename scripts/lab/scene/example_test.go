package scene_test

import (
	"fmt"

	"vmsbridge/scripts/lab/scene"
)

// When somebody walks through the rain, of thirty seconds.
func ExampleScene() {
	s, err := scene.New("rain+walker", scene.Options{Width: 320, Height: 180, Rate: 10, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Len(), "pictures,", len(s.Spans()) > 0)
	// Output: 300 pictures, true
}

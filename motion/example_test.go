package motion_test

import (
	"fmt"
	"time"

	"vmsbridge/motion"
)

// A box goes from left to right, from the fourth second on, for two seconds.
func ExampleDetector() {
	d, err := motion.New(motion.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const width, height = 320, 180
	tell := func(changes []motion.Change) {
		for _, c := range changes {
			if c.Kind == motion.Ended {
				fmt.Printf("motion of %.0f s\n", c.Last.Sub(c.Start).Seconds())
			}
		}
	}
	for i := range 100 { // ten seconds
		luma := make([]byte, width*height)
		for k := range luma {
			luma[k] = byte(90 + (k%width/9*31+k/width/9*17)%60)
			if x := k%width - 16*(i-40); i >= 40 && i < 60 && x >= 0 && x < 40 && k/width > 60 && k/width < 150 {
				luma[k] = 220
			}
		}
		at := epoch.Add(time.Duration(i) * 100 * time.Millisecond)
		tell(d.Step(motion.Picture{Luma: luma, Width: width, Height: height, Stride: width, Time: at}).Changes)
	}
	tell(d.Gap())
	// Output: motion of 2 s
}

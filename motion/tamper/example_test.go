package tamper_test

import (
	"fmt"
	"time"

	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
)

// After half a minute somebody covers the lens.
func ExampleWatch() {
	w, err := tamper.New(tamper.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	film := newFilm(1, 2)
	for i := range 200 { // forty seconds
		film.see()
		if i > 150 {
			film.each(func(_, _, _ float64) float64 { return 30 })
		}
		at := epoch.Add(time.Duration(i) * 200 * time.Millisecond)
		for _, c := range w.Step(motion.Picture{Luma: film.take(2), Width: viewWidth, Height: viewHeight,
			Stride: viewWidth, Time: at}) {
			if c.Kind == tamper.Began {
				fmt.Println(c.Reason, "within ten seconds:", at.Sub(epoch) < 40*time.Second)
			}
		}
	}
	// Output: covered within ten seconds: true
}

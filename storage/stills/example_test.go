package stills_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"time"

	"vmsbridge/storage/stills"
)

// The still just before a moment.
func ExampleRing() {
	dir, err := os.MkdirTemp("", "stills")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ring, err := stills.Open(dir, stills.Options{MaxBytes: 8 << 20, SegmentBytes: 1 << 20, MinFree: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ring.Close()

	var picture bytes.Buffer
	_ = jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 16, 16)), nil)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range 3 {
		at := noon.Add(time.Duration(i) * time.Second)
		if err := ring.Append(stills.Still{Camera: "gate", Kind: stills.Preview, Time: at,
			JPEG: picture.Bytes()}); err != nil {
			fmt.Println(err)
		}
	}
	still, err := ring.Find("gate", stills.Preview, stills.Before, noon.Add(1500*time.Millisecond))
	fmt.Println(still.Time.UTC().Format(time.TimeOnly), err)
	// Output: 12:00:01 <nil>
}

package codec_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"vmsbridge/agent/codec"
)

// What a camera sends as JPEG is looked at before it is kept.
func ExampleCheckJPEG() {
	var picture bytes.Buffer
	_ = jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 48)), nil)
	fmt.Println(codec.CheckJPEG(picture.Bytes()))
	_, _, err := codec.CheckJPEG([]byte("no picture"))
	fmt.Println(err != nil)
	// Output:
	// 64 48 <nil>
	// true
}

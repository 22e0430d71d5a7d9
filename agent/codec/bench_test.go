package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/testclip"
)

// BenchmarkDecode is one access unit to its reduced luma, in this process and through the pipe.
//
//	go test -run xxx -bench Decode ./agent/codec
func BenchmarkDecode(b *testing.B) {
	for _, f := range []Format{H264, H265, MJPEG} {
		for _, size := range [][2]int{{640, 360}, {1920, 1080}} {
			clip := testclip.Make(b, testclip.Spec{Codec: string(f), Width: size[0], Height: size[1], Frames: 20,
				QP: map[bool]int{true: 5, false: 28}[f == MJPEG]})
			for _, isolation := range []string{InProcess, OwnProcess} {
				b.Run(fmt.Sprintf("codec=%s/size=%dx%d/isolation=%s", f, size[0], size[1], isolation),
					func(b *testing.B) {
						d := newPool(b, Options{Isolation: isolation}).Open("a", f, 57_600)
						_, err := d.Decode(b.Context(), clip.Units[0], 0)
						require.NoError(b, err)
						b.ReportAllocs()
						for i := 0; b.Loop(); i++ {
							if _, err := d.Decode(b.Context(), clip.Units[i%len(clip.Units)], int64(i)); err != nil {
								b.Fatal(err)
							}
						}
					})
			}
		}
	}
}

// BenchmarkStill is a preview of a picture: 640 wide, quality 80.
func BenchmarkStill(b *testing.B) {
	for _, f := range []Format{H264, MJPEG} {
		for _, size := range [][2]int{{640, 360}, {1920, 1080}} {
			clip := testclip.Make(b, testclip.Spec{Codec: string(f), Width: size[0], Height: size[1], Frames: 2})
			for _, maxWidth := range []int{640, 0} {
				b.Run(fmt.Sprintf("codec=%s/size=%dx%d/maxWidth=%d", f, size[0], size[1], maxWidth),
					func(b *testing.B) {
						d := newPool(b, Options{}).Open("a", f, 57_600)
						_, err := d.Decode(b.Context(), clip.Units[0], 0)
						require.NoError(b, err)
						_, err = d.Decode(b.Context(), clip.Units[1], 1)
						require.NoError(b, err)
						b.ReportAllocs()
						for b.Loop() {
							if _, err := d.Still(b.Context(), 0, maxWidth, 80); err != nil {
								b.Fatal(err)
							}
						}
					})
			}
		}
	}
}

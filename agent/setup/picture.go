package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

// Picture is a decoded picture as a JPEG.
type Picture struct {
	JPEG          []byte
	Width, Height int           // pixels
	Took          time.Duration // from the access unit to the picture
}

// FirstPicture decodes what a probe has seen, in a decoder process of its own, until a picture
// comes out. libraries are folders that are searched for libavcodec before the system's.
func FirstPicture(ctx context.Context, r camera.Report, libraries []string) (Picture, error) {
	began := time.Now()
	pool := codec.NewPool(codec.Options{LibraryDirs: libraries, PerProcess: 1})
	defer func() { _ = pool.Close() }()
	dec := pool.Open("probe", codec.Format(r.Codec), 0)
	defer dec.Close()
	take := func(pictures []codec.Picture) (Picture, error) {
		p := pictures[0]
		took := time.Since(began)
		jpeg, err := dec.Still(ctx, p.PTS, 0, 90)
		return Picture{jpeg, p.Width, p.Height, took}, err
	}
	var last error
	for _, u := range r.Units {
		pictures, err := dec.Decode(ctx, u.Data, u.Time.UnixMicro())
		if unsupported, ok := errors.AsType[*codec.UnsupportedError](err); ok {
			return Picture{}, unsupported
		}
		if err != nil {
			last = err
			continue
		}
		if len(pictures) > 0 {
			return take(pictures)
		}
	}
	if pictures, err := dec.Flush(ctx); err == nil && len(pictures) > 0 {
		return take(pictures)
	}
	switch n := len(r.Units); {
	case last != nil:
	case n == 1:
		last = errors.New("no picture came out of 1 access unit")
	default:
		last = fmt.Errorf("no picture came out of %d access units", n)
	}
	return Picture{}, last
}

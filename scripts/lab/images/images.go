// Package images reads folders of numbered images as footage, for lab replay: JPEG by the library
// that decodes MJPEG cameras.
//
//	f, err := images.Open(ctx, "shots", footage.Options{Rate: 10})
package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/planar"
	"vmsbridge/cmd/vmsbridge/replay/footage"
)

// Open starts to read a folder of images, the images that a pattern such as "shots/in*.jpg" names,
// or a clip as package footage does.
func Open(ctx context.Context, path string, o footage.Options) (*footage.Footage, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && strings.ContainsAny(path, "*?["):
		names, err := filepath.Glob(path)
		if err != nil {
			return nil, fmt.Errorf("find images: the pattern %s: %w", path, err)
		}
		return openImages(ctx, path, names, o)
	case err == nil && st.IsDir():
		names, err := imagesOf(path)
		if err != nil {
			return nil, err
		}
		return openImages(ctx, path, names, o)
	case err == nil && st.Mode().IsRegular() && st.Size() > 0 && isImage(path):
		return nil, fmt.Errorf("open %s: %w", path, footage.ErrSingle)
	}
	return footage.Open(ctx, path, o)
}

// images is a series of image files, decoded by several goroutines a little ahead.
type images struct {
	step  time.Duration
	stop  context.CancelFunc
	order chan chan footage.Picture // results, in the order of the series
	wait  sync.WaitGroup
	ctx   error // why the series was given up; set before order is closed

	count, damaged int
	first          error
}

// openImages reads image files as a series. Gaps in the numbers do not count: the pictures follow
// one another at the rate.
func openImages(ctx context.Context, path string, names []string, o footage.Options) (*footage.Footage, error) {
	all, err := series(path, names)
	if err != nil {
		return nil, err
	}
	rate := o.Rate
	if rate <= 0 {
		rate = footage.DefaultRate
	}
	ctx, stop := context.WithCancel(ctx)
	m := &images{step: footage.Interval(rate), stop: stop,
		order: make(chan chan footage.Picture, 2*runtime.GOMAXPROCS(0))}
	type job struct {
		i  int
		to chan footage.Picture
	}
	jobs := make(chan job)
	library := jpeg.Open(nil)
	for range runtime.GOMAXPROCS(0) {
		m.wait.Go(func() {
			for j := range jobs {
				p := footage.Picture{Number: j.i, Digits: all[j.i].digits, At: time.Duration(j.i) * m.step}
				p.Image, p.Damaged = decodeImage(library, all[j.i].path)
				j.to <- p // has room
			}
		})
	}
	m.wait.Go(func() {
		defer close(m.order)
		defer close(jobs)
		for i := range all {
			to := make(chan footage.Picture, 1)
			select {
			case m.order <- to:
			case <-ctx.Done():
				m.ctx = ctx.Err()
				return
			}
			select {
			case jobs <- job{i, to}:
			case <-ctx.Done():
				m.ctx = ctx.Err()
				close(to)
				return
			}
		}
	})
	return footage.New(footage.Info{Pictures: len(all), Length: time.Duration(len(all)) * m.step, Rate: rate}, m), nil
}

// Next is the next image.
func (m *images) Next() (footage.Picture, error) {
	for to := range m.order {
		p, ok := <-to
		if !ok {
			continue
		}
		m.count++
		if p.Damaged != nil {
			if m.damaged++; m.damaged == 1 {
				m.first = p.Damaged
			}
		}
		return p, nil
	}
	switch {
	case m.ctx != nil:
		return footage.Picture{}, m.ctx
	case m.damaged == m.count:
		return footage.Picture{}, fmt.Errorf("no image of the series can be read; the first: %w", m.first)
	}
	return footage.Picture{}, io.EOF
}

// Complaint says how many images were passed over.
func (m *images) Complaint() string {
	if m.damaged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d images cannot be read and were passed over; the first: %v", m.damaged, m.count,
		m.first)
}

// Close ends the reading.
func (m *images) Close() {
	m.stop()
	for range m.order {
	}
	m.wait.Wait()
}

// maxImageFile bounds what is read of one image.
const maxImageFile = 256 << 20

func decodeImage(library *jpeg.Codec, path string) (planar.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return planar.Image{}, fmt.Errorf("open image: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxImageFile+1))
	if err == nil && len(data) > maxImageFile {
		err = errors.New("it is too large")
	}
	if err != nil {
		return planar.Image{}, fmt.Errorf("read image %s: %w", path, err)
	}
	m, err := decodePixels(library, data)
	if err != nil {
		return planar.Image{}, fmt.Errorf("read image %s: %w", path, err)
	}
	return m, nil
}

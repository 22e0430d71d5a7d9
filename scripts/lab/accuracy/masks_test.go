package accuracy_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/motion"
	"vmsbridge/scripts/lab/contour"
	drawn "vmsbridge/scripts/lab/scene"
)

// pixels counts what a mask says of the pixels of which the truth is known.
type pixels struct{ hits, extra, missed, right int64 }

func (p *pixels) count(mask, truth []byte) {
	for i, v := range truth {
		switch {
		case v == drawn.TruthUnknown:
		case v == drawn.TruthMoving && mask[i] != 0:
			p.hits++
		case v == drawn.TruthMoving:
			p.missed++
		case mask[i] != 0:
			p.extra++
		default:
			p.right++
		}
	}
}

func ratio(a, b int64) float64 { return float64(a) / float64(max(1, b)) }

func (p pixels) recall() float64    { return ratio(p.hits, p.hits+p.missed) }
func (p pixels) precision() float64 { return ratio(p.hits, p.hits+p.extra) }
func (p pixels) wrongly() float64   { return ratio(p.extra, p.extra+p.right) } // the false positive rate
func (p pixels) f() float64         { return ratio(2*p.hits, 2*p.hits+p.extra+p.missed) }

// maskLearn is how long the masks of a scene do not count.
const maskLearn = 5 * time.Second

// maskVerdict is what became of the masks of a scene, of the detector and of another subtractor, if
// there is one.
type maskVerdict struct {
	ours, other pixels
	spent       time.Duration
	pictures    int
}

// tryMasks compares the masks of all pictures with the truth. Command is another subtractor, as the
// flag -mog2 explains it; nil is none. Each sees every picture, if there is a function.
func (c trial) tryMasks(command []string, each func(i int, luma, truth, ours, other []byte)) (v maskVerdict,
	err error) {
	s, err := drawn.New(c.name, drawn.Options{Width: c.width, Height: c.height, Rate: c.rate, Seed: c.seed,
		Length: c.length})
	if err != nil {
		return v, err
	}
	d, err := motion.New(motion.Config{})
	if err != nil {
		return v, err
	}
	var o *subtractor
	if len(command) > 0 {
		if o, err = startSubtractor(command, c.width, c.height); err != nil {
			return v, err
		}
		defer func() {
			if e := o.close(); err == nil {
				err = e
			}
		}()
	}
	w, h := planar.Fit(c.width, c.height, workPixels)
	n := c.width * c.height
	e := contour.New()
	luma, truth, seeds, ours, other := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n),
		make([]byte, n)
	rate := c.rate
	if rate < 3 { // as a replay.Watch tells pictures that are rare
		rate = 10
	}
	if c.told != 0 {
		rate = c.told
	}
	for i := range s.Len() {
		s.Luma(i, luma)
		s.Truth(i, truth)
		if o != nil {
			if err := o.look(luma, other); err != nil {
				return v, err
			}
		}
		began := time.Now()
		small := luma
		if w != c.width || h != c.height {
			small = planar.Luma(planar.Image{Y: planar.Plane{Pix: luma, Width: c.width, Height: c.height,
				Stride: c.width}, Width: c.width, Height: c.height, FullRange: true}, w, h)
		}
		at := time.Duration(i) * time.Second / time.Duration(rate)
		d.Step(motion.Picture{Luma: small, Width: w, Height: h, Stride: w, Time: epoch.Add(at)})
		d.ActivityMask(seeds, c.width, c.height)
		dx, dy := d.Shake()
		e.Trace(contour.Picture{Luma: luma, Width: c.width, Height: c.height, Stride: c.width, Time: epoch.Add(at),
			ShiftX: dx * float64(c.width), ShiftY: dy * float64(c.height)}, seeds, ours)
		v.spent += time.Since(began)
		v.pictures++
		if time.Duration(i)*time.Second/time.Duration(c.rate) >= maskLearn {
			v.ours.count(ours, truth)
			v.other.count(other, truth)
		}
		if each != nil {
			each(i, luma, truth, ours, other)
		}
	}
	return v, nil
}

// subtractor is a process that reads gray pictures, row after row, and writes a mask of the same
// size for each.
type subtractor struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startSubtractor(command []string, width, height int) (*subtractor, error) {
	process := exec.Command(command[0], append(command[1:], fmt.Sprint(width), fmt.Sprint(height))...)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", strings.Join(command, " "), err)
	}
	return &subtractor{process, in, bufio.NewReaderSize(out, 1<<20)}, nil
}

func (s *subtractor) look(luma, mask []byte) error {
	if _, err := s.in.Write(luma); err != nil {
		return err
	}
	_, err := io.ReadFull(s.out, mask)
	return err
}

func (s *subtractor) close() error {
	if err := s.in.Close(); err != nil {
		return err
	}
	return s.process.Wait()
}

package tamper_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"vmsbridge/cmd/camsim/scene"
	"vmsbridge/motion/tamper"
)

func TestZScenes(t *testing.T) {
	n := seeds(t, 4)
	names := scene.Names()
	if o := os.Getenv("TAMPER_SCENES"); o != "" {
		names = []string{o}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			hit, extra, worst, truths := 0, 0, 0.0, 0
			note := ""
			for seed := range n {
				s, err := scene.New(name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 5, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				inner, _ := tamper.New(tamper.Config{})
				w := &watcher{Watch: inner}
				luma := make([]byte, viewWidth*viewHeight)
				for i := range s.Len() {
					s.Luma(i, luma)
					w.step(picture(luma, float64(i)/5))
					if os.Getenv("TAMPER_DEBUG") == fmt.Sprint(seed) && i%5 == 0 {
						fmt.Println(i/5, w.Debug())
					}
				}
				end := float64(s.Len()) / 5
				w.take(w.Gap(), end)
				truth := s.Tampering()
				truths += len(truth)
				for _, f := range w.spans {
					ok := false
					for _, tr := range truth {
						if f.told > tr.Start.Seconds() && f.start < tr.End.Seconds() {
							ok = true
							worst = max(worst, f.told-tr.Start.Seconds())
							if f.reason.String() != tr.Reason {
								note += fmt.Sprintf(" %d:%v", seed, f.reason)
							}
							if f.last-tr.End.Seconds() > 3 {
								note += fmt.Sprintf(" %d:end+%.1f", seed, f.last-tr.End.Seconds())
							}
						}
					}
					if ok {
						hit++
					} else {
						extra++
						note += fmt.Sprintf(" +%d:%v@%.1f-%.1f", seed, f.reason, f.start, f.last)
					}
				}
				if len(w.spans) == 0 && len(truth) > 0 {
					note += fmt.Sprintf(" missed %d(%.1f-%.1f of %.0f)", seed, truth[0].Start.Seconds(), truth[0].End.Seconds(), end)
				}
			}
			fmt.Printf("%-20s hit %d/%d worst %.1f extra %d %s\n", name, hit, truths, worst, extra, note)
		})
	}
	_ = time.Second
}

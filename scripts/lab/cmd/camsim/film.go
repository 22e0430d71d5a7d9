package main

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"time"

	"vmsbridge/scripts/lab/movie"
	"vmsbridge/scripts/lab/scene"
)

// film is a movie in a file, as encoding/gob writes it, and when someone tampers in it. The
// product's tests read it: agent/camera/clip has the same fields.
type film struct {
	Codec               string
	Width, Height, Rate int
	Units               []movie.Unit
	Tampering           []scene.Tamper
}

func (f film) movie() *movie.Movie {
	return &movie.Movie{Codec: f.Codec, Width: f.Width, Height: f.Height, Rate: f.Rate, Units: f.Units}
}

// write writes what would be played.
func (f *flags) write(ctx context.Context) error {
	m, _, err := f.sized(ctx, f.Size, true)
	if err != nil {
		return err
	}
	made := film{Codec: m.Codec, Width: m.Width, Height: m.Height, Rate: m.Rate, Units: m.Units}
	if f.Clip == "" && f.Film == "" {
		s, err := scene.New(f.Scene, scene.Options{Width: m.Width, Height: m.Height, Rate: m.Rate, Seed: f.Seed,
			Length: time.Duration(f.Length) * time.Second})
		if err != nil {
			return err
		}
		made.Tampering = s.Tampering()
	}
	file, err := os.Create(f.Write)
	if err != nil {
		return fmt.Errorf("write film: %w", err)
	}
	if err := gob.NewEncoder(file).Encode(made); err != nil {
		_ = file.Close()
		return fmt.Errorf("write film: %w", err)
	}
	return file.Close()
}

func readFilm(path string) (f film, err error) {
	file, err := os.Open(path)
	if err != nil {
		return f, fmt.Errorf("read film: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := gob.NewDecoder(file).Decode(&f); err != nil {
		return f, fmt.Errorf("read film %s: %w; write it with --write", path, err)
	}
	if len(f.Units) < 2 || f.Rate < 1 || !f.Units[0].Key {
		return f, fmt.Errorf("read film %s: it does not begin with a keyframe, or has fewer than two pictures", path)
	}
	return f, nil
}

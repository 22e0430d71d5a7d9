package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/scripts/lab/movie"
	"vmsbridge/scripts/lab/scene"
)

// spec is how a stream is drawn and encoded.
type spec struct {
	scene   string
	seconds int // of its loop
	size    [2]int
	rate    int
	encode  movie.Options
}

var (
	small = [2]int{640, 360}
	large = [2]int{1280, 720}
)

// specs are the streams. "quiet" is an empty scene, "tenth" has motion a tenth of the time, "busy"
// is hardly ever at rest; then the kbit/s, or the finest quantiser.
var specs = map[string]spec{
	"quiet-128":    {"quiet", 20, small, 10, movie.Options{Codec: movie.H264, Bitrate: 128}},
	"quiet-512":    {"quiet", 20, small, 10, movie.Options{Codec: movie.H264, Bitrate: 512}},
	"quiet-qp26":   {"quiet", 20, small, 10, movie.Options{Codec: movie.H264, MinQP: 26}},
	"light-qp26":   {"light-switch", 60, small, 10, movie.Options{Codec: movie.H264, MinQP: 26}},
	"quiet-h265":   {"quiet", 20, small, 10, movie.Options{Codec: movie.H265}},
	"tenth-128":    {"person", 60, small, 10, movie.Options{Codec: movie.H264, Bitrate: 128}},
	"tenth-qp26":   {"person", 60, small, 10, movie.Options{Codec: movie.H264, MinQP: 26}},
	"busy-512":     {"street+walker", 30, small, 10, movie.Options{Codec: movie.H264, Bitrate: 512}},
	"busy-h265":    {"street+walker", 30, small, 10, movie.Options{Codec: movie.H265}},
	"quiet-720-15": {"quiet", 20, large, 15, movie.Options{Codec: movie.H264, Bitrate: 1024}},
	"busy-720-15":  {"street+walker", 30, large, 15, movie.Options{Codec: movie.H264, Bitrate: 1024}},
}

func streamNames() []string { return slices.Sorted(maps.Keys(specs)) }

// stream is a recorded stream, and what it is like.
type stream struct {
	name      string
	movie     *movie.Movie
	bits, qp  float64 // a macroblock of a picture that is no keyframe; the mean quantiser of slices
	keyframes float64 // seconds from one to the next
}

// record draws and encodes a stream, or reads what an earlier run has kept.
func record(ctx context.Context, dir, name string) (*stream, error) {
	spec, ok := specs[name]
	if !ok {
		return nil, fmt.Errorf("record %s: there are %s", name, strings.Join(streamNames(), ", "))
	}
	s := &stream{name: name}
	path := filepath.Join(dir, name+".film")
	if file, err := os.Open(path); err == nil {
		err = gob.NewDecoder(file).Decode(&s.movie)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w; delete it", path, err)
		}
	} else if s.movie, err = draw(ctx, spec, path); err != nil {
		return nil, err
	}
	return s, s.look(ctx, filepath.Join(dir, name+"."+s.movie.Codec))
}

func draw(ctx context.Context, p spec, path string) (*movie.Movie, error) {
	drawn, err := scene.New(p.scene, scene.Options{Width: p.size[0], Height: p.size[1], Rate: p.rate, Seed: 1,
		Length: time.Duration(p.seconds) * time.Second})
	if err != nil {
		return nil, err
	}
	m, err := movie.FromScene(ctx, drawn, p.encode)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(m); err != nil {
		return nil, err
	}
	return m, os.WriteFile(path, b.Bytes(), 0o644)
}

// look finds out what the stream is like.
func (s *stream) look(ctx context.Context, path string) error {
	var raw []byte
	bytesOfOthers, others, keys := 0, 0, 0
	for _, u := range s.movie.Units {
		unit := annexB(u)
		raw = append(raw, unit...)
		if u.Key {
			keys++
			continue
		}
		bytesOfOthers += len(unit)
		others++
	}
	s.keyframes = s.movie.Loop().Seconds() / float64(max(keys, 1))
	blocks := float64((s.movie.Width+15)/16) * float64((s.movie.Height+15)/16)
	s.bits = 8 * float64(bytesOfOthers) / float64(max(others, 1)) / blocks
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		return err
	}
	format := map[string]string{movie.H264: "h264", movie.H265: "hevc"}[s.movie.Codec]
	cmd := exec.CommandContext(ctx, "ffmpeg", "-hide_banner", "-f", format, "-i", path, "-c", "copy", "-bsf:v",
		"trace_headers", "-f", "null", "-")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("read headers of %s: %w", path, err)
	}
	s.qp = meanQP(said)
	return nil
}

// meanQP is 26 + init_qp_minus26 of the picture + slice_qp_delta, of all slices.
func meanQP(trace []byte) float64 {
	initial, sum, n := 0, 0, 0
	for sc := bufio.NewScanner(bytes.NewReader(trace)); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if len(fields) < 4 {
			continue
		}
		value, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			continue
		}
		switch fields[len(fields)-4] {
		case "pic_init_qp_minus26", "init_qp_minus26":
			initial = value
		case "slice_qp_delta":
			sum, n = sum+26+initial+value, n+1
		}
	}
	return float64(sum) / float64(max(n, 1))
}

func annexB(u movie.Unit) []byte {
	var out []byte
	for _, nal := range u.NALs {
		out = append(append(out, 0, 0, 0, 1), nal...)
	}
	return out
}

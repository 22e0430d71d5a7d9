package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// camera is a camsim that plays one scene for ever.
type camera struct {
	id, scene, url string
	began          time.Time // of the first loop
	loop           time.Duration
	walks          []span // in a loop; offsets from its start as times after the zero time
}

// serve starts a camsim and returns when it can be read.
func serve(ctx context.Context, program, dir, scene string, seed uint64, loop time.Duration) (*camera, error) {
	c := &camera{id: strings.ReplaceAll(scene, "+", "-"), scene: scene, loop: loop}
	truth := filepath.Join(dir, c.id+".csv")
	cmd := exec.CommandContext(ctx, program, "--listen", "127.0.0.1:0", "--scene", scene, "--size", "640x360",
		"--length", fmt.Sprint(int(loop.Seconds())),
		"--seed", fmt.Sprint(seed), "--truth", truth)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start the camera of %s: %w", scene, err)
	}
	fields := strings.Fields(line) // camsim ready: URL (640x360), …, start TIME
	c.url = fields[2]
	if c.began, err = time.Parse(time.RFC3339, fields[len(fields)-1]); err != nil {
		return nil, fmt.Errorf("read camsim's line %q: %w", line, err)
	}
	return c, c.read(truth)
}

func (c *camera) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(f).ReadAll()
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for _, row := range rows[1:] {
		var at [2]time.Time
		for i := range at {
			s, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
			at[i] = time.Time{}.Add(time.Duration(s * float64(time.Second)))
		}
		c.walks = append(c.walks, span{at[0], at[1]})
	}
	return nil
}

// truth lists when something walked through, wholly between the two times.
func (c *camera) truth(from, until time.Time) []span {
	var all []span
	for loop := c.began; loop.Before(until); loop = loop.Add(c.loop) {
		for _, w := range c.walks {
			s := span{loop.Add(w.start.Sub(time.Time{})), loop.Add(w.end.Sub(time.Time{}))}
			if s.start.After(from) && s.end.Before(until) {
				all = append(all, s)
			}
		}
	}
	return all
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// peer is Motion, writing no picture and no movie: only what it finds counts, and its cost is that
// of finding. An event's gap is that of the bridge's quiet_period, for its own of a minute would
// join two walks and hide what is false.
type peer struct {
	program, title string
	settings       map[string]string
	dir            string
	pid            int
}

// tuned is what Motion's guide advises against false alarms: several pictures in a row, a limit for
// light, a threshold that adapts.
var tuned = map[string]string{"minimum_motion_frames": "3", "lightswitch_percent": "20", "threshold_tune": "on",
	"despeckle_filter": "EedDl"}

func (p *peer) name() string { return p.title }

func (p *peer) start(ctx context.Context, dir string, cameras []*camera) error {
	p.dir = dir
	main := "daemon off\nlog_level 3\nwebcontrol_port 0\n"
	for i, c := range cameras {
		var m strings.Builder
		log := filepath.Join(dir, c.id)
		fmt.Fprintf(&m,
			"camera_id %d\ncamera_name %s\nnetcam_url %s\nwidth 640\nheight 360\nframerate 10\nevent_gap 2\n", i+1,
			c.id, c.url)
		m.WriteString("picture_output off\nmovie_output off\nstream_port 0\n")
		fmt.Fprintf(&m,
			"on_event_start echo start $(date +%%s.%%N) >> %s\non_event_end echo end $(date +%%s.%%N) >> %s\n", log,
			log)
		for key, value := range p.settings {
			fmt.Fprintf(&m, "%s %s\n", key, value)
		}
		if err := os.WriteFile(log+".conf", []byte(m.String()), 0o600); err != nil {
			return err
		}
		main += "camera " + log + ".conf\n"
	}
	path := filepath.Join(dir, "motion.conf")
	if err := os.WriteFile(path, []byte(main), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.program, "-n", "-c", path)
	if err := cmd.Start(); err != nil {
		return err
	}
	p.pid = cmd.Process.Pid
	return nil
}

func (p *peer) spans(_ context.Context, cameras []*camera) (map[string][]span, cost, error) {
	spent, err := costOf(p.pid)
	if err != nil {
		return nil, spent, err
	}
	found := map[string][]span{}
	for _, c := range cameras {
		log, err := os.ReadFile(filepath.Join(p.dir, c.id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it saw nothing
		}
		if err != nil {
			return nil, spent, err
		}
		for line := range strings.Lines(string(log)) {
			what, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			s, err := strconv.ParseFloat(at, 64)
			if err != nil {
				return nil, spent, fmt.Errorf("read %q of %s: %w", line, c.id, err)
			}
			t := time.UnixMicro(int64(s * 1e6))
			if all := found[c.id]; what == "end" && len(all) > 0 {
				all[len(all)-1].end = t.Add(-2 * time.Second) // the gap
			} else if what == "start" {
				found[c.id] = append(all, span{t, time.Now()})
			}
		}
	}
	return found, spent, nil
}

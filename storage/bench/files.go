package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// filesSide has a file for each still, in a folder for each camera and hour. A flush is one syncfs,
// for a thousand fsyncs would cost a thousand commits.
type filesSide struct {
	dir  string
	root *os.File
	made map[string]bool
}

func openFiles(dir string) (side, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.Open(dir)
	return &filesSide{dir, root, map[string]bool{}}, err
}

func (s *filesSide) hour(camera string, t time.Time) string {
	return filepath.Join(s.dir, camera, strconv.FormatInt(t.Unix()/3600, 10))
}

func (s *filesSide) Append(camera string, t time.Time, jpeg []byte) error {
	dir := s.hour(camera, t)
	if !s.made[dir] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		s.made[dir] = true
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%019d.jpg", t.UnixNano())), jpeg, 0o600)
}

func (s *filesSide) Flush() error { return unix.Syncfs(int(s.root.Fd())) }

func (s *filesSide) Before(camera string, t time.Time) (time.Time, []byte, error) {
	name := fmt.Sprintf("%019d.jpg", t.UnixNano())
	for back := range 48 {
		dir := s.hour(camera, t.Add(-time.Duration(back)*time.Hour))
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		i := sort.Search(len(list), func(i int) bool { return list[i].Name() >= name })
		if i == 0 {
			continue
		}
		ns, err := strconv.ParseInt(list[i-1].Name()[:19], 10, 64)
		if err != nil {
			return time.Time{}, nil, err
		}
		b, err := os.ReadFile(filepath.Join(dir, list[i-1].Name()))
		return time.Unix(0, ns), b, err
	}
	return time.Time{}, nil, errNone
}

func (s *filesSide) Prune(bytes int64) error {
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if bytes <= 0 {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes -= info.Size()
		return os.Remove(path)
	})
	if err != nil {
		return err
	}
	return s.Flush()
}

func (s *filesSide) Close() error { return s.root.Close() }

package configs

import "strings"

// Lines is a file or named pipe that gets each event as a line of JSON. The zero value means none.
type Lines struct {
	// Path is that of the file, which is made, or of a named pipe, which is not. Empty: there is
	// none. Absolute after Load.
	Path string `yaml:"path"`
	// Backlog bounds what waits while the file cannot be written, or nobody reads the pipe.
	Backlog Backlog `yaml:"backlog"`
}

func (c *checker) lines() {
	l := &c.cfg.Lines
	c.backlog("file.backlog", l.Backlog)
	if l.Path == "" {
		if c.given("file") && !c.bad["file"] {
			c.fault("file.path", "missing; write the path of a file or a named pipe, or leave out the whole group")
		}
		return
	}
	if strings.HasSuffix(l.Path, "/") {
		c.fault("file.path", "%s is a folder; write the path of a file in it", shown(l.Path))
	}
	l.Path = c.absolute("file.path", l.Path)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"vmsbridge/agent/codec"
)

type versionCommand struct {
	JSON      bool     `name:"json" help:"Print JSON."`
	Libraries []string `help:"Folders to search for libavcodec before the system's." placeholder:"DIR"`
	Decoders  []string `help:"Decoders to try before libavcodec's own, as decode.decoders has them." placeholder:"NAME"`
}

// Run prints what this program is and what it finds to decode with. A decoder that is missing is no
// error: the line says what to install.
func (c *versionCommand) Run(ctx context.Context, s streams) error {
	pool := codec.NewPool(codec.Options{LibraryDirs: c.Libraries, Decoders: c.Decoders})
	defer func() { _ = pool.Close() }()
	// a decoder process may take half a minute to start on a busy box
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	found, err := pool.Capabilities(ctx)
	if err != nil {
		return fmt.Errorf("ask a decoder process: %w", err)
	}
	if c.JSON {
		return json.NewEncoder(s.out).Encode(map[string]any{"version": version(), "go": runtime.Version(),
			"os":   runtime.GOOS,
			"arch": runtime.GOARCH, "decoders": found})
	}
	_, _ = fmt.Fprintf(s.out, "vmsbridge %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	capability(s.out, "H.264", found.H264)
	capability(s.out, "H.265", found.H265)
	capability(s.out, "JPEG", found.JPEG)
	_, _ = fmt.Fprintf(s.out, "Decoder processes are confined by %s.\n", found.Confinement)
	if found.JPEG.Library != linkedJPEG {
		_, _ = fmt.Fprintln(s.out, "This is a pure Go build: it lacks libjpeg-turbo, and takes libturbojpeg where "+
			"that is installed.")
	}
	return nil
}

// linkedJPEG is what a build with a C compiler has in it.
const linkedJPEG = "libjpeg"

func capability(w io.Writer, name string, c codec.Capability) {
	line := c.Library
	if c.Version != "" {
		line += " " + c.Version
	}
	if c.Decoder != "" {
		line += ", by " + c.Decoder
	}
	if c.Path != "" {
		line += ", " + c.Path
	}
	if !c.OK {
		line = "missing"
	}
	if c.Problem != "" {
		line += ": " + c.Problem
	}
	if c.Hint != "" {
		line += "; " + c.Hint
	}
	_, _ = fmt.Fprintf(w, "%-6s %s\n", name+":", line)
}

// release is set by scripts/build --release.
var release string

// version is the release's, else the module's, or the commit it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, revision, modified := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	switch {
	case v != "" && v != "(devel)":
		return v
	case revision != "":
		return revision + modified
	default:
		return "devel"
	}
}

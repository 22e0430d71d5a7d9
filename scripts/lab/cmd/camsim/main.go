// Command camsim is an RTSP camera for development and tests: it plays a clip or a drawn scene for
// ever, as H.264, H.265 or MJPEG, with or without sign-in, and misbehaves on request.
//
//	camsim --scene person --size 640x360 --fps 10 --path /cam --preview-size 320x180
//	camsim --scene street+rain+walker --seed 7 --length 60
//	camsim --scene help                                        # says what there is
//	camsim --clip walk.mp4 --codec h265 --user viewer --password secret --auth digest \
//		--misbehave loss=100
//
// When it can be read it prints one line: "camsim ready" and its addresses. It ends by itself
// never, by Ctrl-C or SIGTERM at once.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/scripts/lab/movie"
	"vmsbridge/scripts/lab/scene"
	"vmsbridge/scripts/lab/serve"
)

// flags are the command line.
type flags struct {
	Listen      string   `default:"127.0.0.1:8554" help:"Address of RTSP; port 0 takes a free one."`
	Path        []string `default:"/cam" sep:"none" help:"Path of the stream. May be repeated: the same is at each."`
	Codec       string   `default:"h264" enum:"h264,h265,mjpeg" help:"h264, h265 or mjpeg."`
	Clip        string   `type:"existingfile" help:"Video file to play instead of a scene."`
	Film        string   `type:"existingfile" help:"What --write has written, to play instead of a scene."`
	Write       string   `placeholder:"FILE" help:"Write the encoded stream, and when someone tampers in it, and end: for --film and for tests."`
	Scene       string   `default:"person" help:"Scene to draw: ${scenes}; \"help\" explains them all, and how to join them."`
	Size        string   `help:"Width and height, e.g. 640x360 (scenes: the default; clips: their own)."`
	PreviewSize string   `help:"Serve the same at PATH/sub in this size, as the substream."`
	FPS         int      `name:"fps" help:"Pictures per second (scenes: 10; clips: their own)."`
	GOP         int      `name:"gop" help:"Pictures from keyframe to keyframe; default two seconds."`
	BFrames     int      `name:"bframes" help:"B-frames between references."`
	Bitrate     int      `help:"kbit/s of H.264 and H.265 (of the main stream); default constant quality."`
	Coding      string   `placeholder:"ARGUMENTS" help:"Arguments of ffmpeg that say how to encode, in place of --gop, --bframes and --bitrate."`
	Seed        uint64   `default:"1" help:"Seed of the scene: what its parts leave open, and the noise."`
	Length      int      `placeholder:"SECONDS" help:"Length of the scene's loop; default 30."`
	User        string   `help:"User name to ask for."`
	Password    string   `help:"Password to ask for."`
	Auth        string   `help:"none, basic, digest or digest-sha256; digest if --user is given."`
	Transport   string   `default:"both" enum:"tcp,udp,both" help:"tcp, udp or both."`
	Misbehave   []string `placeholder:"NAME[=N]" help:"Do wrong: ${faults}. May be repeated."`
	ListFaults  bool     `help:"Explain the misbehaviours and end."`
	Truth       string   `placeholder:"FILE" help:"Write when something moves in a loop: CSV start_s,end_s (scenes only)."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "camsim:", err)
		os.Exit(1)
	}
}

// run is main without the process: it serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	var f flags
	parser, err := kong.New(&f, kong.Name("camsim"), kong.Description("An RTSP camera for development."),
		kong.Writers(out, out),
		kong.Vars{"scenes": "person, quiet, light-switch, rain+walker, …",
			"faults": strings.Join(serve.FaultNames(), ", ")})
	if err != nil {
		return err
	}
	if _, err := parser.Parse(args); err != nil {
		return err
	}
	if f.ListFaults {
		_, err := io.WriteString(out, serve.FaultHelp())
		return err
	}
	if f.Scene == "help" {
		_, err := io.WriteString(out, scene.Help())
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if f.Write != "" {
		return f.write(ctx)
	}
	channels, loop, err := f.channels(ctx)
	if err != nil {
		return err
	}
	opts.Channels = channels
	srv, err := serve.New(opts)
	if err != nil {
		return err
	}
	if err := srv.Start(); err != nil {
		return err
	}
	urls := make([]string, len(channels))
	for i, c := range channels {
		urls[i] = fmt.Sprintf("%s (%dx%d)", srv.URL(c.Path), c.Movie.Width, c.Movie.Height)
	}
	return srv.RunReady(ctx, func() {
		fmt.Fprintf(out, "camsim ready: %s, %s, %d pictures/s, %s, start %s\n", strings.Join(urls, " and "), f.Codec,
			channels[0].Movie.Rate, loop,
			srv.Began().UTC().Format("2006-01-02T15:04:05.000Z"))
	})
}

func (f *flags) options() (serve.Options, error) {
	o := serve.Options{Listen: f.Listen, TCP: f.Transport != "udp", UDP: f.Transport != "tcp", Auth: f.Auth,
		User: f.User, Password: f.Password}
	if o.Auth == "" && f.User != "" {
		o.Auth = serve.AuthDigest
	}
	for _, m := range f.Misbehave {
		fault, err := serve.ParseFault(m)
		if err != nil {
			return o, err
		}
		o.Faults = append(o.Faults, fault)
	}
	return o, nil
}

// channels encodes the stream, and the substream if there is one.
func (f *flags) channels(ctx context.Context) (channels []serve.Channel, loop string, err error) {
	sizes := []struct{ below, size string }{{"", f.Size}}
	if f.PreviewSize != "" {
		sizes = append(sizes, struct{ below, size string }{"/sub", f.PreviewSize})
	}
	for i, s := range sizes {
		m, what, err := f.sized(ctx, s.size, i == 0)
		if err != nil {
			return nil, "", err
		}
		for _, path := range f.Path {
			channels = append(channels, serve.Channel{Path: "/" + strings.Trim(path, "/") + s.below, Movie: m})
		}
		loop = fmt.Sprintf("%s in a loop of %s", what, m.Loop())
	}
	return channels, loop, nil
}

// sized encodes the stream in a size as it is written on the command line.
func (f *flags) sized(ctx context.Context, size string, main bool) (*movie.Movie, string, error) {
	w, h := 0, 0
	if size == "" && f.Clip == "" {
		w, h = 640, 360
	}
	if size != "" {
		if n, err := fmt.Sscanf(size, "%dx%d", &w, &h); n != 2 || err != nil || w < 1 || h < 1 {
			return nil, "", fmt.Errorf("read size %q: write it as 640x360", size)
		}
	}
	if f.Film != "" {
		made, err := readFilm(f.Film)
		return made.movie(), "film", err
	}
	return f.movie(ctx, w, h, main)
}

func (f *flags) movie(ctx context.Context, w, h int, main bool) (*movie.Movie, string, error) {
	o := movie.Options{Codec: f.Codec, Width: w, Height: h, Rate: f.FPS, GOP: f.GOP, BFrames: f.BFrames,
		Coding: f.Coding}
	if main {
		o.Bitrate = f.Bitrate
	}
	if f.Clip != "" {
		if f.Truth != "" {
			return nil, "", errors.New("write truth: what moves in a clip is not known; --truth is for scenes")
		}
		fmt.Fprintf(os.Stderr, "camsim: encoding %s as %s, which takes a while\n", f.Clip, f.Codec)
		m, err := movie.FromClip(ctx, f.Clip, o)
		return m, "clip", err
	}
	if o.Rate == 0 {
		o.Rate = 10
	}
	s, err := scene.New(f.Scene, scene.Options{Width: w, Height: h, Rate: o.Rate, Seed: f.Seed,
		Length: time.Duration(f.Length) * time.Second})
	if err != nil {
		return nil, "", err
	}
	if f.Truth != "" {
		var b strings.Builder
		b.WriteString("start_s,end_s\n")
		for _, span := range s.Spans() {
			fmt.Fprintf(&b, "%.3f,%.3f\n", span.Start.Seconds(), span.End.Seconds())
		}
		if err := os.WriteFile(f.Truth, []byte(b.String()), 0o644); err != nil {
			return nil, "", fmt.Errorf("write truth: %w", err)
		}
	}
	m, err := movie.FromScene(ctx, s, o)
	return m, "scene " + f.Scene, err
}

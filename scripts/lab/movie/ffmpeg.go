package movie

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/scripts/lab/scene"
)

// maxBytes bounds a movie in memory.
const maxBytes = 1 << 30

// source is what ffmpeg reads.
type source struct {
	args  []string
	feed  *scene.Scene // drawn into its standard input
	scale bool         // to the wanted size and rate
}

// encode runs ffmpeg. Its tee muxer writes the elementary stream, and beside it a table of its
// packets with times and sizes (framecrc), so that the pictures need not be found in the stream
// again.
func (m *Movie) encode(ctx context.Context, o Options, src source) error {
	program, err := o.program()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "camsim-")
	if err != nil {
		return fmt.Errorf("make temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	args := append([]string{"-nostdin", "-hide_banner", "-loglevel", "error"}, src.args...)
	args = append(args, "-map", "0:v:0", "-an")
	if src.scale {
		args = append(args, scaling(o)...)
	}
	args = append(args, encoder(o, m.Rate)...)
	raw, index := filepath.Join(dir, "stream"), filepath.Join(dir, "index")
	format := map[string]string{H264: "h264", H265: "hevc", MJPEG: "mjpeg"}[o.Codec]
	args = append(args, "-f", "tee", fmt.Sprintf("[f=%s]%s|[f=framecrc]%s", format, raw, index))

	cmd := exec.CommandContext(ctx, program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if src.feed != nil {
		cmd.Stdin = draw(src.feed)
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSpace(said.String())
		if strings.Contains(text, "Unknown encoder") {
			return &MissingError{program, "it was built without the encoder for " + o.Codec}
		}
		if len(text) > 600 {
			text = text[len(text)-600:]
		}
		return fmt.Errorf("run ffmpeg: %w: %s", err, text)
	}
	return m.load(raw, index)
}

// scaling makes the size and the rate that are wanted, in the colour range that the codec has.
func scaling(o Options) []string {
	var filters []string
	if o.Width > 0 {
		filters = append(filters, fmt.Sprintf("scale=%d:%d", o.Width, o.Height))
	}
	if o.Rate > 0 {
		filters = append(filters, fmt.Sprintf("fps=%d", o.Rate))
	}
	if o.Codec == MJPEG {
		filters = append(filters, "scale=out_range=pc")
	}
	if filters == nil {
		return nil
	}
	return []string{"-vf", strings.Join(filters, ",")}
}

func encoder(o Options, rate int) []string {
	if o.Coding != "" {
		return strings.Fields(o.Coding)
	}
	gop := o.GOP
	if gop == 0 {
		gop = 2 * max(rate, 10)
	}
	g, b := strconv.Itoa(gop), strconv.Itoa(o.BFrames)
	quality := []string{"-crf", map[string]string{H264: "24", H265: "26"}[o.Codec]}
	if o.Bitrate > 0 {
		rate, room := fmt.Sprintf("%dk", o.Bitrate), fmt.Sprintf("%dk", 2*o.Bitrate)
		quality = []string{"-b:v", rate, "-maxrate", rate, "-bufsize", room}
	}
	if o.MinQP > 0 {
		quality = append(quality, "-qmin", strconv.Itoa(o.MinQP))
	}
	switch o.Codec {
	case H264:
		return append(quality, "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", g, "-keyint_min",
			g,
			"-sc_threshold", "0", "-bf", b, "-x264-params", "b-adapt=0:open-gop=0:force-cfr=1")
	case H265:
		return append(quality, "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-x265-params",
			"log-level=error:info=0:scenecut=0:open-gop=0:repeat-headers=1:b-adapt=0:keyint="+g+":min-keyint="+g+
				":bframes="+b+":qpmin="+strconv.Itoa(o.MinQP))
	default: // only the standard Huffman tables can be sent by RTP
		return []string{"-c:v", "mjpeg", "-huffman", "default", "-q:v", "4", "-pix_fmt", "yuvj420p"}
	}
}

// draw returns the raw pictures of a scene as a stream, drawn as they are read.
func draw(s *scene.Scene) io.Reader {
	var p scene.Picture
	i, rest := 0, []byte(nil)
	var all []byte
	return readFunc(func(b []byte) (int, error) {
		if len(rest) == 0 {
			if i == s.Len() {
				return 0, io.EOF
			}
			s.Draw(i, &p)
			i++
			all = append(append(append(all[:0], p.Y...), p.U...), p.V...)
			rest = all
		}
		n := copy(b, rest)
		rest = rest[n:]
		return n, nil
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// load reads the stream and its table of packets.
func (m *Movie) load(raw, index string) error {
	stream, err := os.ReadFile(raw)
	if err != nil {
		return fmt.Errorf("read encoded stream: %w", err)
	}
	if len(stream) > maxBytes {
		return fmt.Errorf("read encoded stream: %d bytes are more than camsim keeps in memory; use a shorter clip",
			len(stream))
	}
	table, err := os.ReadFile(index)
	if err != nil {
		return fmt.Errorf("read table of packets: %w", err)
	}
	return m.parse(stream, table)
}

// parse divides the stream by the table. Lines of the table are "stream, dts, pts, duration, size,
// crc[, F=flags]…"; before them stand "#tb 0: 1/10" and "#dimensions 0: 640x360". Times count from
// the first shown picture.
func (m *Movie) parse(stream, table []byte) error {
	num, den := 1, 0
	var times []int
	sc := bufio.NewScanner(bytes.NewReader(table))
	for sc.Scan() {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "#tb 0: "):
			if _, err := fmt.Sscanf(line, "#tb 0: %d/%d", &num, &den); err != nil {
				return fmt.Errorf("read time base %q: %w", line, err)
			}
		case strings.HasPrefix(line, "#dimensions 0: "):
			if _, err := fmt.Sscanf(line, "#dimensions 0: %dx%d", &m.Width, &m.Height); err != nil {
				return fmt.Errorf("read dimensions %q: %w", line, err)
			}
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "":
		default:
			fields := strings.Split(line, ",")
			if len(fields) < 6 {
				return fmt.Errorf("read packet %q: too few fields", line)
			}
			pts, err1 := strconv.Atoi(strings.TrimSpace(fields[2]))
			size, err2 := strconv.Atoi(strings.TrimSpace(fields[4]))
			if err := errors.Join(err1, err2); err != nil {
				return fmt.Errorf("read packet %q: %w", line, err)
			}
			if size <= 0 || size > len(stream) {
				return fmt.Errorf("read packet %q: %d bytes are left", line, len(stream))
			}
			key := !strings.Contains(line, "F=0x0") && !strings.Contains(line, "F=0x10")
			m.Units = append(m.Units, Unit{NALs: m.divide(stream[:size]), Key: key})
			times = append(times, pts)
			stream = stream[size:]
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read table of packets: %w", err)
	}
	if len(m.Units) < 2 || !m.Units[0].Key || den <= 0 || num <= 0 {
		return errors.New("encode: the result has no pictures, or does not start with a keyframe; is there video in " +
			"the clip?")
	}
	return m.order(times, float64(num)/float64(den))
}

// order numbers the pictures as they are shown. Clips with an uneven rate are played evenly at
// their mean rate.
func (m *Movie) order(times []int, tick float64) error {
	first, last := times[0], times[0]
	for _, t := range times {
		first, last = min(first, t), max(last, t)
	}
	if last <= first {
		return errors.New("encode: all pictures have one time")
	}
	if m.Rate == 0 {
		m.Rate = max(1, int(float64(len(times)-1)/(float64(last-first)*tick)+0.5))
	}
	sorted := slices.Sorted(slices.Values(times))
	for i, t := range times {
		m.Units[i].Shown, _ = slices.BinarySearch(sorted, t)
	}
	return nil
}

// divide splits a packet into NAL units; a JPEG stays whole.
func (m *Movie) divide(b []byte) [][]byte {
	if m.Codec == MJPEG {
		return [][]byte{b}
	}
	var out [][]byte
	for part := range bytes.SplitSeq(b, []byte{0, 0, 1}) {
		// the zero of a four-byte start code, or padding; a NAL unit never ends in 0
		part = bytes.TrimRight(part, "\x00")
		if len(part) > 0 {
			out = append(out, part)
		}
	}
	return out
}

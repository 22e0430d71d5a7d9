package footage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoFFmpeg says that the programs that read clips are not there.
var ErrNoFFmpeg = errors.New("ffmpeg and ffprobe are needed to read clips: apt install ffmpeg (Debian, Ubuntu), or " +
	"put both into $PATH; folders of images work without")

// protocols keeps a clip that is really a playlist from reaching into the network.
var protocols = []string{"-protocol_whitelist", "file,pipe,crypto,data"}

// stream is what ffprobe says of a clip's first video stream.
type stream struct {
	codec, pixels, colours string
	format                 string
	rate                   float64 // 0 if unknown
	length                 time.Duration
	pictures               int
}

// untimed are ffmpeg's names of formats that hold coded pictures without times.
var untimed = []string{"h264", "hevc", "vvc", "mjpeg", "mpjpeg", "m4v", "mpegvideo", "obu", "vc1", "h263", "h261",
	"cavsvideo", "dirac"}

func (s stream) timed() bool { return !slices.Contains(untimed, s.format) && !s.images() }

// images tells whether the file is images one after another, most likely only one.
func (s stream) images() bool { return strings.HasSuffix(s.format, "_pipe") || s.format == "image2" }

// probe asks ffprobe.
func probe(ctx context.Context, path string) (stream, error) {
	args := slices.Concat([]string{"-v", "error"}, protocols, []string{"-select_streams", "V:0",
		"-show_entries",
		"stream=codec_name,pix_fmt,color_range,avg_frame_rate,r_frame_rate,nb_frames,duration:" +
			"format=format_name,duration", "-of", "json", "-i", "file:" + path})
	cmd := exec.CommandContext(ctx, "ffprobe", args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		switch {
		case ctx.Err() != nil:
			return stream{}, ctx.Err()
		case errors.Is(err, exec.ErrNotFound):
			return stream{}, fmt.Errorf("open %s: %w", path, ErrNoFFmpeg)
		}
		return stream{}, unreadable(path, said.String())
	}
	var answer struct {
		Streams []struct {
			Codec    string `json:"codec_name"`
			Pixels   string `json:"pix_fmt"`
			Colours  string `json:"color_range"`
			Average  string `json:"avg_frame_rate"`
			Rate     string `json:"r_frame_rate"`
			Frames   string `json:"nb_frames"`
			Duration string `json:"duration"`
		} `json:"streams"`
		Format struct {
			Name     string `json:"format_name"`
			Duration string `json:"duration"`
		} `json:"format"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return stream{}, fmt.Errorf("open %s: read what ffprobe says: %w", path, err)
	}
	if len(answer.Streams) == 0 {
		return stream{}, fmt.Errorf("open %s: there is no video in it (format %s)", path, answer.Format.Name)
	}
	v := answer.Streams[0]
	if v.Pixels == "" {
		return stream{}, unreadable(path, cmpText(said.String(), "no picture of its "+v.Codec+" video can be decoded"))
	}
	s := stream{codec: v.Codec, pixels: v.Pixels, colours: v.Colours, format: answer.Format.Name}
	if s.rate = fraction(v.Average); s.rate == 0 {
		s.rate = fraction(v.Rate)
	}
	s.pictures, _ = strconv.Atoi(v.Frames)
	if s.length = seconds(v.Duration); s.length == 0 {
		s.length = seconds(answer.Format.Duration)
	}
	return s, nil
}

func cmpText(a, b string) string {
	if strings.TrimSpace(a) == "" {
		return b
	}
	return a
}

// unreadable makes an error of what ffmpeg said of a file, with what to do about it.
func unreadable(path, said string) error {
	hint := "is it a clip? Copy or export it again"
	switch {
	case strings.Contains(said, "moov atom not found"):
		hint = "the recording was cut off before its index was written: export it again, as MKV or MPEG-TS if it may " +
			"be cut off"
	case strings.Contains(said, "Permission denied"):
		hint = "the file may not be read by this user"
	case strings.Contains(said, "ncryption") || strings.Contains(said, "decryption"):
		hint = "the clip is encrypted: export it without"
	}
	return fmt.Errorf("open %s: ffmpeg cannot read it (%s): %s", path, lastWords(said, path), hint)
}

// address is what ffmpeg puts before its messages: "[h264 @ 0x55d0c0a0] ".
var address = regexp.MustCompile(`\[[\w:,/.+-]+ @ 0x[0-9a-f]+\] *`)

// lastWords is the last lines of ffmpeg's complaints in one line, without the addresses and the
// name of the file.
func lastWords(said, path string) string {
	text := strings.ReplaceAll(address.ReplaceAllString(strings.TrimSpace(said), ""), "file:"+path+": ", "")
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool {
		return strings.Contains(l, "Last message repeated")
	})
	lines = slices.Compact(lines[max(0, len(lines)-3):])
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if text = strings.Join(lines, "; "); text == "" {
		return "it does not say why"
	}
	return text
}

// fraction reads "30000/1001"; 0 for anything else.
func fraction(s string) float64 {
	a, b, ok := strings.Cut(s, "/")
	num, err1 := strconv.ParseFloat(a, 64)
	den, err2 := strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil || den <= 0 || num <= 0 || num/den > 1000 {
		return 0
	}
	return num / den
}

func seconds(s string) time.Duration {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 || v > 1e9 {
		return 0
	}
	return time.Duration(v * float64(time.Second))
}

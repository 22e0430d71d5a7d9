package avcodec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CodecOf is the codec that a decoder's name begins with, in libavcodec's words: h264_v4l2m2m,
// hevc_rkmpp. ok is false for a decoder of something else.
func CodecOf(name string) (c Codec, ok bool) {
	for _, c := range []Codec{H264, H265} {
		if name == string(c) || strings.HasPrefix(name, string(c)+"_") {
			return c, true
		}
	}
	return "", false
}

// Prefer has decoders tried that somebody names, hardware as a rule, each with the clip of its
// codec. The first of a codec that decodes it exactly is taken by NewDecoder from now on. refused
// says of each other one why not; what it would have decoded is decoded as before.
func (l *Library) Prefer(names []string) (refused map[string]error) {
	refused = map[string]error{}
	for _, name := range names {
		if err := l.prefer(name); err != nil {
			refused[name] = err
		}
	}
	return refused
}

func (l *Library) prefer(name string) error {
	c, ok := CodecOf(name)
	if !ok {
		return fmt.Errorf("its name does not begin with %s_ or %s_", H264, H265)
	}
	if first := l.preferred[c]; first != "" {
		return fmt.Errorf("%s is taken", first)
	}
	t := tests[slices.IndexFunc(tests, func(t test) bool { return t.codec == c })]
	timed := l.ptsOffset != 0
	err := l.decodes(t, name, func(i int, f *Frame) { timed = timed && f.PTS == inOrder[i] })
	if err == nil && !timed {
		err = errors.New("its pictures do not come back with their times")
	}
	if err == nil {
		l.preferred[c] = name
	}
	return err
}

// Preferred is the decoder that was named and is taken for a codec; "": libavcodec's own.
func (l *Library) Preferred(c Codec) string { return l.preferred[c] }

// Named is the name of the decoder where it was asked for by name; "": libavcodec's own.
func (d *Decoder) Named() string { return d.named }

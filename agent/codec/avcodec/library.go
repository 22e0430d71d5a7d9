package avcodec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// majors are the versions of libavcodec whose AVFrame and AVPacket are laid out as read here,
// newest first.
var majors = []int{62, 61, 60, 59, 58}

// swresampleOf is the libswresample that belongs to a major; libavutil's number is always two less
// than libavcodec's.
var swresampleOf = map[int]int{58: 3, 59: 4, 60: 4, 61: 5, 62: 6}

// Library is a loaded libavcodec that passed its test for at least one codec. It stays loaded until
// the process ends and is safe for concurrent use.
type Library struct {
	Path    string // of the file, as the kernel mapped it; "" if unknown
	Version string // for example "59.37.100"

	calls       calls
	symbols     map[string]uintptr
	getBufferAt uintptr          // of AVCodecContext.get_buffer2
	getBuffer   uintptr          // what it is set to
	budgetCalls unsafe.Pointer   // what that calls, where it is in C
	ptsOffset   uintptr          // of AVFrame.pts; 0: not where expected, times are kept beside
	failed      map[Codec]error  // why a codec is not served
	preferred   map[Codec]string // decoders by name: see Prefer
}

// calls are the functions used, as Go functions.
type calls struct {
	avcodecVersion func() uint32
	findDecoder    func(name string) unsafe.Pointer
	allocContext   func(codec unsafe.Pointer) unsafe.Pointer
	openContext    func(ctx, codec, options unsafe.Pointer) int32
	freeContext    func(ctx *unsafe.Pointer)
	flushBuffers   func(ctx unsafe.Pointer)
	sendPacket     func(ctx, packet unsafe.Pointer) int32
	receiveFrame   func(ctx, frame unsafe.Pointer) int32
	allocPacket    func() unsafe.Pointer
	newPacket      func(packet unsafe.Pointer, size int32) int32
	unrefPacket    func(packet unsafe.Pointer)
	freePacket     func(packet *unsafe.Pointer)
	allocFrame     func() unsafe.Pointer
	freeFrame      func(frame *unsafe.Pointer)
	unrefFrame     func(frame unsafe.Pointer)
	getBuffer      func(ctx, frame unsafe.Pointer, flags int32) int32
	planeBuffer    func(frame unsafe.Pointer, plane int32) unsafe.Pointer
	ref            func(buffer unsafe.Pointer) unsafe.Pointer
	unref          func(buffer *unsafe.Pointer)
	references     func(buffer unsafe.Pointer) int32
	optSet         func(obj unsafe.Pointer, name, value string, flags int32) int32
	optGetInt      func(obj unsafe.Pointer, name string, flags int32, out *int64) int32
	strError       func(code int32, buf *byte, size uintptr) int32
	pixFmtName     func(format int32) string
	logSetLevel    func(level int32)
}

// Open looks for a libavcodec in dirs and then where the system's loader looks, newest version
// first, and answers the first that passes its test for every codec, else the first that passes for
// one. *MissingError: there is none.
func Open(dirs []string) (*Library, error) {
	return open(append(slices.Clone(dirs), ""))
}

// open is Open in exactly these places; "" is the system's.
func open(places []string) (*Library, error) {
	var (
		missing MissingError
		partial *Library
	)
	for _, dir := range places {
		for _, major := range majors {
			lib, err := load(dir, major)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err == nil {
				err = lib.test()
			}
			if err == nil {
				return lib, nil
			}
			missing.Tried = append(missing.Tried, fmt.Sprintf("%s: %v", soname(dir, "avcodec", major), err))
			if lib != nil && len(lib.failed) < len(tests) && partial == nil {
				partial = lib
			}
		}
	}
	if partial != nil {
		return partial, nil
	}
	return nil, &missing
}

func soname(dir, name string, major int) string {
	return filepath.Join(dir, fmt.Sprintf("lib%s.so.%d", name, major))
}

// load loads one version; os.ErrNotExist if it is not there. With dir "" the system's loader
// searches.
func load(dir string, major int) (*Library, error) {
	var utilHandle uintptr
	if dir != "" {
		if _, err := os.Stat(soname(dir, "avcodec", major)); err != nil {
			return nil, fmt.Errorf("find libavcodec: %w", os.ErrNotExist)
		}
		// What libavcodec needs lies beside it: loaded first, the loader finds it by its name.
		_, _ = dlopen(soname(dir, "avutil", major-2))
		_, _ = dlopen(soname(dir, "swresample", swresampleOf[major]))
	}
	codecHandle, err := dlopen(soname(dir, "avcodec", major))
	if err != nil {
		if dir == "" && strings.Contains(err.Error(), "cannot open shared object file") &&
			strings.Contains(err.Error(), soname("", "avcodec", major)) {
			return nil, fmt.Errorf("find libavcodec: %w", os.ErrNotExist)
		}
		return nil, fmt.Errorf("load libavcodec: %w", err)
	}
	if utilHandle, err = dlopen(soname("", "avutil", major-2)); err != nil {
		return nil, fmt.Errorf("load libavutil: %w", err)
	}
	lib := &Library{failed: map[Codec]error{}, preferred: map[Codec]string{}, symbols: map[string]uintptr{}}
	if err := lib.bind(codecHandle, utilHandle); err != nil {
		return nil, err
	}
	v := lib.calls.avcodecVersion()
	lib.Version = fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xff, v&0xff)
	if int(v>>16) != major {
		return nil, fmt.Errorf("check libavcodec: it says that it is version %s", lib.Version)
	}
	lib.Path = mappedPath(fmt.Sprintf("libavcodec.so.%d", major))
	lib.calls.logSetLevel(logQuiet)
	if err := lib.findBudget(); err != nil {
		return nil, err
	}
	return lib, nil
}

const logQuiet = -8 // AV_LOG_QUIET

func dlopen(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func (l *Library) bind(codec, util uintptr) error {
	c := &l.calls
	for _, f := range []struct {
		lib  uintptr
		name string
		fn   any
	}{
		{codec, "avcodec_version", &c.avcodecVersion},
		{codec, "avcodec_find_decoder_by_name", &c.findDecoder},
		{codec, "avcodec_alloc_context3", &c.allocContext},
		{codec, "avcodec_open2", &c.openContext},
		{codec, "avcodec_free_context", &c.freeContext},
		{codec, "avcodec_flush_buffers", &c.flushBuffers},
		{codec, "avcodec_send_packet", &c.sendPacket},
		{codec, "avcodec_receive_frame", &c.receiveFrame},
		{codec, "av_packet_alloc", &c.allocPacket},
		{codec, "av_new_packet", &c.newPacket},
		{codec, "av_packet_unref", &c.unrefPacket},
		{codec, "av_packet_free", &c.freePacket},
		{util, "av_frame_alloc", &c.allocFrame},
		{util, "av_frame_free", &c.freeFrame},
		{util, "av_frame_unref", &c.unrefFrame},
		{codec, "avcodec_default_get_buffer2", &c.getBuffer},
		{util, "av_frame_get_plane_buffer", &c.planeBuffer},
		{util, "av_buffer_ref", &c.ref},
		{util, "av_buffer_unref", &c.unref},
		{util, "av_buffer_get_ref_count", &c.references},
		{util, "av_opt_set", &c.optSet},
		{util, "av_opt_get_int", &c.optGetInt},
		{util, "av_strerror", &c.strError},
		{util, "av_get_pix_fmt_name", &c.pixFmtName},
		{util, "av_log_set_level", &c.logSetLevel},
	} {
		symbol, err := purego.Dlsym(f.lib, f.name)
		if err != nil {
			return fmt.Errorf("find function %s: %w", f.name, err)
		}
		purego.RegisterFunc(f.fn, symbol)
		l.symbols[f.name] = symbol
	}
	return nil
}

// Supports says why a codec is not served; nil: it is.
func (l *Library) Supports(c Codec) error { return l.failed[c] }

func (l *Library) err(code int32) error {
	var buf [128]byte
	l.calls.strError(code, &buf[0], uintptr(len(buf)))
	text, _, _ := bytes.Cut(buf[:], []byte{0})
	return avError{code: code, text: string(text)}
}

// mappedPath is the file behind a loaded library, from the kernel's list of this process's
// mappings.
func mappedPath(name string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			if path := strings.TrimSpace(line[at:]); strings.HasPrefix(filepath.Base(path), name) {
				return path
			}
		}
	}
	return ""
}

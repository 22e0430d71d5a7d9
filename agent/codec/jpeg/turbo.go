package jpeg

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"vmsbridge/agent/codec/planar"
)

// turbo is libturbojpeg, loaded at run time; its interface of version 2 (tj…), which version 3
// still has. Its unsigned long is uintptr here.
type turbo struct {
	path string

	initDecompress func() unsafe.Pointer
	initCompress   func() unsafe.Pointer
	destroy        func(handle unsafe.Pointer) int32
	errorText      func(handle unsafe.Pointer) string
	errorCode      func(handle unsafe.Pointer) int32
	header         func(handle unsafe.Pointer, data *byte, size uintptr, w, h, subsampling,
		colours *int32) int32
	decompress func(handle unsafe.Pointer, data *byte, size uintptr, planes *unsafe.Pointer, w int32, strides *int32,
		h, flags int32) int32
	compress func(handle unsafe.Pointer, planes *unsafe.Pointer, w int32, strides *int32, h, subsampling int32,
		out *unsafe.Pointer, size *uintptr, quality, flags int32) int32
	free func(p unsafe.Pointer)
}

const turboName = "libturbojpeg.so.0"

// openTurbo loads libturbojpeg from the first of dirs that has it, else from where the system's
// loader looks.
func openTurbo(dirs []string) (*turbo, error) {
	var tried []error
	for _, dir := range append(append([]string(nil), dirs...), "") {
		path := filepath.Join(dir, turboName)
		if dir != "" {
			if _, err := os.Stat(path); err != nil {
				continue
			}
		}
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			tried = append(tried, err)
			continue
		}
		t := &turbo{path: path}
		if err := t.bind(handle); err != nil {
			tried = append(tried, err)
			continue
		}
		return t, nil
	}
	return nil, fmt.Errorf("load libturbojpeg: %w", errors.Join(tried...))
}

func (t *turbo) bind(handle uintptr) error {
	for _, f := range []struct {
		name string
		fn   any
	}{
		{"tjInitDecompress", &t.initDecompress},
		{"tjInitCompress", &t.initCompress},
		{"tjDestroy", &t.destroy},
		{"tjGetErrorStr2", &t.errorText},
		{"tjGetErrorCode", &t.errorCode},
		{"tjDecompressHeader3", &t.header},
		{"tjDecompressToYUVPlanes", &t.decompress},
		{"tjCompressFromYUVPlanes", &t.compress},
		{"tjFree", &t.free},
	} {
		symbol, err := purego.Dlsym(handle, f.name)
		if err != nil {
			return fmt.Errorf("find function %s: %w", f.name, err)
		}
		purego.RegisterFunc(f.fn, symbol)
	}
	return nil
}

func (t *turbo) describe() (name, version, path string) { return "libturbojpeg", "", t.path }

// The chroma subsamplings by their number in libturbojpeg.
const (
	turbo444  = 0
	turbo422  = 1
	turbo420  = 2
	turboGray = 3
	turbo440  = 4
	turbo411  = 5
)

var turboRatios = map[int32]image.YCbCrSubsampleRatio{
	turbo444: image.YCbCrSubsampleRatio444, turbo422: image.YCbCrSubsampleRatio422,
	turbo420: image.YCbCrSubsampleRatio420,
	turbo440: image.YCbCrSubsampleRatio440, turbo411: image.YCbCrSubsampleRatio411,
}

const (
	turboWarning = 0 // TJERR_WARNING
	turboYCbCr   = 1 // TJCS_YCbCr
	turboIsGray  = 2 // TJCS_GRAY
	turboNoAlloc = 0
)

func (t *turbo) decode(data []byte, h Header) (planar.Image, error) {
	// The text of a warning is the thread's, not the handle's: it is asked for where the call was
	// made.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle := t.initDecompress()
	if handle == nil {
		return planar.Image{}, errors.New("out of memory")
	}
	defer t.destroy(handle)
	var w, ht, subsampling, colours int32
	if t.header(handle, unsafe.SliceData(data), uintptr(len(data)), &w, &ht, &subsampling, &colours) != 0 {
		return planar.Image{}, errors.New(t.errorText(handle))
	}
	if int(w) != h.Width || int(ht) != h.Height {
		return planar.Image{}, fmt.Errorf("libturbojpeg reads its size as %dx%d, not %dx%d", w, ht, h.Width, h.Height)
	}
	if colours != turboYCbCr && colours != turboIsGray {
		return planar.Image{}, errors.New("its colours are not Y, Cb, Cr")
	}
	ratio, known := turboRatios[subsampling]
	if !known && subsampling != turboGray {
		return planar.Image{}, fmt.Errorf("unsupported chroma subsampling %d", subsampling)
	}
	if subsampling == turboGray {
		ratio = image.YCbCrSubsampleRatio444
	}
	// Padded up to the coding unit (32 for 4:1:1), which is what libturbojpeg writes.
	const unit = 32
	m := image.NewYCbCr(image.Rect(0, 0, (h.Width+unit-1)/unit*unit, (h.Height+unit-1)/unit*unit), ratio)
	m.Rect = image.Rect(0, 0, h.Width, h.Height)
	status := t.planes(m, func(planes *unsafe.Pointer, strides *int32) int32 {
		return t.decompress(handle, unsafe.SliceData(data), uintptr(len(data)), planes, w, strides, ht, 0)
	})
	if status != 0 {
		text := t.errorText(handle)
		// Bytes too many between two markers do no harm and are usual with some cameras.
		if t.errorCode(handle) != turboWarning || !strings.Contains(text, "extraneous bytes") {
			return planar.Image{}, fmt.Errorf("%w: %s", ErrDamaged, text)
		}
	}
	if subsampling == turboGray {
		return fromGray(&image.Gray{Pix: m.Y, Stride: m.YStride, Rect: m.Rect}), nil
	}
	return fromYCbCr(m)
}

func (t *turbo) encode(m *image.YCbCr, quality int) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle := t.initCompress()
	if handle == nil {
		return nil, errors.New("out of memory")
	}
	defer t.destroy(handle)
	var (
		out  unsafe.Pointer
		size uintptr
	)
	status := t.planes(m, func(planes *unsafe.Pointer, strides *int32) int32 {
		return t.compress(handle, planes, int32(m.Rect.Dx()), strides, int32(m.Rect.Dy()), turbo420, &out, &size,
			int32(quality), turboNoAlloc)
	})
	if out != nil {
		defer t.free(out)
	}
	if status != 0 {
		return nil, errors.New(t.errorText(handle))
	}
	return append([]byte(nil), unsafe.Slice((*byte)(out), size)...), nil
}

// planes calls f with the addresses and strides of m's planes; the planes stay where they are
// meanwhile.
func (t *turbo) planes(m *image.YCbCr, f func(planes *unsafe.Pointer, strides *int32) int32) int32 {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var planes [3]unsafe.Pointer
	for i, p := range [][]byte{m.Y, m.Cb, m.Cr} {
		pinner.Pin(unsafe.SliceData(p))
		planes[i] = unsafe.Pointer(unsafe.SliceData(p))
	}
	strides := [3]int32{int32(m.YStride), int32(m.CStride), int32(m.CStride)}
	return f(&planes[0], &strides[0])
}

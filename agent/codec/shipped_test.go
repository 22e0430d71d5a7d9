package codec

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/testclip"
)

// asProgram tells the copy of this test program below that it is the program of a package.
const asProgram = "VMSBRIDGE_TEST_PACKAGED"

// A libavcodec in ../lib/vmsbridge, seen from the program, is taken before the system's, in decoder
// processes too, and decodes; without one, or with one that is broken, the system's is. The
// libraries are those of VMSBRIDGE_TEST_LIBRARY_DIRS (such as scripts/libavcodec makes), or else a
// copy of the system's.
func TestLibrariesThatComeWithTheProgram(t *testing.T) {
	if os.Getenv(asProgram) != "" {
		t.Skip("this is the program of the test")
	}
	dir := t.TempDir()
	bin, lib := filepath.Join(dir, "bin"), filepath.Join(dir, "lib", "vmsbridge")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.MkdirAll(lib, 0o755))
	copyFile(t, "/proc/self/exe", filepath.Join(bin, "vmsbridge"))

	before := packaged(t, bin)
	if !before.OK {
		t.Skipf("%s: %s", before.Problem, before.Hint)
	}
	if !filepath.IsAbs(before.Path) {
		t.Skip("/proc/self/maps does not name the library that is loaded, as by qemu-user; run this on a machine of " +
			"the processor it is for")
	}
	require.NotEqual(t, lib, filepath.Dir(before.Path))

	var sources []string
	for _, from := range append(filepath.SplitList(os.Getenv("VMSBRIDGE_TEST_LIBRARY_DIRS")),
		filepath.Dir(before.Path)) {
		if sources, _ = filepath.Glob(filepath.Join(from, "libav[cu]*.so.*")); len(sources) > 0 {
			break
		}
	}
	require.NotEmpty(t, sources)
	for _, file := range sources {
		copyFile(t, file, filepath.Join(lib, filepath.Base(file)))
	}
	after := packaged(t, bin)
	require.True(t, after.OK, "%+v", after)
	require.Equal(t, lib, filepath.Dir(after.Path), "what comes with the program is preferred")

	for _, file := range sources {
		require.NoError(t, os.WriteFile(filepath.Join(lib, filepath.Base(file)), []byte("not a library"), 0o600))
	}
	broken := packaged(t, bin)
	require.True(t, broken.OK, "%+v", broken)
	require.Equal(t, before.Path, broken.Path)
}

// packaged runs the program in bin, which decodes a clip and says by what.
func packaged(t *testing.T, bin string) (h264 Capability) {
	t.Helper()
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 3})
	units, err := json.Marshal(clip.Units)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "units")
	require.NoError(t, os.WriteFile(file, units, 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "vmsbridge"), "-test.run=^TestPackagedProgram$",
		"-test.v=false")
	cmd.Env = append(os.Environ(), asProgram+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	require.NoError(t, json.Unmarshal(bytes.TrimSuffix(out, []byte("PASS\n")), &h264), "%s", out)
	return h264
}

// TestPackagedProgram is the program of the test above.
func TestPackagedProgram(t *testing.T) {
	file := os.Getenv(asProgram)
	if file == "" {
		t.Skip("only run by TestLibrariesThatComeWithTheProgram")
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var units [][]byte
	require.NoError(t, json.Unmarshal(text, &units))
	pool := NewPool(Options{})
	defer func() { require.NoError(t, pool.Close()) }()
	found, err := pool.Capabilities(t.Context())
	require.NoError(t, err)
	if found.H264.OK {
		decoded := 0
		d := pool.Open("gate", H264, 57_600)
		for i, unit := range units {
			pictures, err := d.Decode(t.Context(), unit, int64(i))
			require.NoError(t, err)
			decoded += len(pictures)
		}
		rest, err := d.Flush(t.Context())
		require.NoError(t, err)
		d.Close()
		decoded += len(rest)
		require.Equal(t, len(units), decoded)
	}
	require.NoError(t, json.NewEncoder(os.Stdout).Encode(found.H264))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

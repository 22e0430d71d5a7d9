package clip

import (
	"encoding/gob"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// Film is a drawn scene as a camera sends it, in decode order. It starts with a keyframe.
type Film struct {
	Codec               string // as in Clip
	Width, Height, Rate int
	Units               []Unit
	Tampering           []Tampering // when someone tampers with the camera
}

// Unit is one coded picture.
type Unit struct {
	NALs  [][]byte // as in Clip
	Shown int      // its number in the order of showing
	Key   bool
}

// Tampering shows From, spoils the view from Start to End, all since the film began.
type Tampering struct {
	Reason           string
	From, Start, End time.Duration
}

// Draw has the simulated camera draw and encode a scene; args are its flags, such as --scene
// covered.
func Draw(t testing.TB, args ...string) (f Film) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film")
	out, err := exec.Command(harness.Camsim(t), append([]string{"--write", path}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	require.NoError(t, gob.NewDecoder(file).Decode(&f))
	return f
}

// Write writes the film into a file, for the simulated camera to play with --film.
func (f Film) Write(t testing.TB, path string) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, gob.NewEncoder(file).Encode(f))
	require.NoError(t, file.Close())
}

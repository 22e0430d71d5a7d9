package confine_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/agent/codec/confine"
	"vmsbridge/agent/codec/testclip"
)

// victim is what the attacks of testdata/hostile.c are after.
type victim struct {
	dir, file, port, socket string
	met                     chan struct{} // somebody connected
}

const secret = "the camera's password"

func newVictim(t *testing.T) victim {
	v := victim{dir: t.TempDir(), met: make(chan struct{}, 99)}
	v.file, v.socket = filepath.Join(v.dir, "secret"), filepath.Join(v.dir, "control")
	require.NoError(t, os.WriteFile(v.file, []byte(secret), 0o666))
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	local, err := net.Listen("unix", v.socket)
	require.NoError(t, err)
	for _, l := range []net.Listener{tcp, local} {
		t.Cleanup(func() { _ = l.Close() })
		go func() { // ends when l is closed
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
				v.met <- struct{}{}
			}
		}()
	}
	v.port = fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port)
	return v
}

// unharmed requires that nobody came, and that all is as it was.
func (v victim) unharmed(t *testing.T) {
	t.Helper()
	require.Empty(t, v.met, "somebody connected")
	content, err := os.ReadFile(v.file)
	require.NoError(t, err)
	require.Equal(t, secret, string(content))
	entries, err := os.ReadDir(v.dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "%v", entries)
}

// takenOver makes a folder with a libavcodec that does what access units say. It needs a C
// compiler, and the real one.
func takenOver(t *testing.T, v victim) (dir string) {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing: scripts/deps installs it")
	}
	pool := codec.NewPool(codec.Options{})
	defer pool.Close()
	found, err := pool.Capabilities(t.Context())
	require.NoError(t, err)
	if !found.H264.OK || !filepath.IsAbs(found.H264.Path) {
		t.Skipf("there is no libavcodec whose file is known: %s", found.H264.Problem)
	}
	dir = t.TempDir()
	major := regexp.MustCompile(`^libavcodec\.so\.\d+`).FindString(filepath.Base(found.H264.Path))
	require.NotEmpty(t, major, found.H264.Path)
	out, err := exec.CommandContext(t.Context(), compiler, "-shared", "-fPIC", "-O1", "-Wl,-soname,libhostile.so",
		"-Wl,--no-as-needed",
		"-DVICTIM_PORT=\""+v.port+"\"", "-DVICTIM_FILE=\""+v.file+"\"", "-o", filepath.Join(dir, major),
		filepath.Join("testdata", "hostile.c"),
		"-L"+filepath.Dir(found.H264.Path), "-l:"+major, "-lpthread", "-ldl").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// A libavcodec that was taken over by a stream gets nothing of the machine, of the agent and of
// other processes; what decoding needs goes on. This runs as root where the tests do, who would
// otherwise be let in everywhere.
func TestTakenOverDecoder(t *testing.T) {
	t.Run("in software", func(t *testing.T) { takeOver(t, nil) })
	// A process that may open devices still gets at nothing else.
	t.Run("with devices", func(t *testing.T) { takeOver(t, []string{"h264"}) })
}

func takeOver(t *testing.T, decoders []string) {
	v := newVictim(t)
	dir := takenOver(t, v)
	self := fmt.Sprint(os.Getpid())
	proc := "/proc/" + self + "/"
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 1})
	t.Setenv("EVIL_SECRET", "very-secret")
	refusals := regexp.MustCompile(`not permitted|Permission denied|not implemented|Function not|no decoder needs`)
	type attack struct {
		name, with string
		outcome    *regexp.Regexp
	}
	var attacks []attack
	for _, a := range [][2]string{
		{"tcp", v.port}, {"udp", v.port}, {"local-socket", v.socket}, {"socketpair"}, {"netlink"},
		{"read", v.file}, {"read-old-way", v.file}, {"read", proc + "environ"}, {"read", proc + "mem"}, {"read",
			"/proc/self/environ"}, {"write", proc + "mem"},
		{"write", v.file}, {"write", filepath.Join(v.dir, "new")}, {"list"}, {"stat", v.file}, {"symlink",
			v.file}, {"link", v.file}, {"rename", v.file},
		{"unlink", v.file}, {"truncate", v.file}, {"mkdir", v.file}, {"chmod", v.file}, {"chdir"},
		{"ptrace", self}, {"vm-read", self}, {"vm-write", self}, {"kill", self}, {"tgkill", self}, {"kill-all"},
		{"pidfd", self}, {"pidfd-getfd"}, {"prlimit-parent", self}, {"fork"}, {"vfork"}, {"clone3"}, {"exec"},
		{"setrlimit"}, {"map-exec"}, {"protect-exec"}, {"memfd"}, {"shm"}, {"io_uring"}, {"bpf"}, {"unshare"}, {
			"dumpable"},
	} {
		attacks = append(attacks, attack{a[0], a[1], refusals})
	}
	gotIn := regexp.MustCompile(`-9999`)
	attacks = append(attacks, attack{"thread", "", gotIn}, attack{"descriptors", "", gotIn},
		attack{"memory", "1", gotIn}, attack{"memory", "16384", regexp.MustCompile(`Cannot allocate memory`)})
	if runtime.GOARCH == "amd64" {
		attacks = append(attacks, attack{"32-bit", "", refusals})
	}

	held, but := confinement(t, decoders...), ""
	if decoders != nil {
		but = " but for devices"
		if !slices.ContainsFunc(held.InForce, func(s string) bool { return strings.HasPrefix(s, "Landlock") }) {
			t.Skipf("this kernel has no Landlock, which keeps files from who may open devices: %s", held)
		}
		// Whether there is a file is nothing that Landlock keeps.
		attacks = slices.DeleteFunc(attacks, func(a attack) bool { return a.name == "stat" })
	}
	var (
		pool *codec.Pool
		dec  *codec.Decoder
	)
	reopen := func() {
		if pool != nil {
			require.NoError(t, pool.Close())
		}
		pool = codec.NewPool(codec.Options{LibraryDirs: []string{dir}, Decoders: decoders})
		dec = pool.Open("gate", codec.H264, 57_600)
	}
	reopen()
	defer func() { _ = pool.Close() }()
	decodes := func() {
		_, err := dec.Decode(t.Context(), clip.Units[0], 1)
		require.NoError(t, err, "what decoding needs is allowed")
	}
	decodes()
	for _, a := range attacks {
		t.Run(a.name+" "+filepath.Base(a.with), func(t *testing.T) {
			if !slices.Contains(held.InForce, "seccomp"+but) {
				t.Skipf("this kernel has no seccomp: %s", held)
			}
			_, err := dec.Decode(t.Context(), []byte(strings.TrimSpace("ATTACK "+a.name+" "+a.with)), 2)
			require.Error(t, err)
			require.Regexp(t, a.outcome, err.Error())
			v.unharmed(t)
			if _, err := dec.Decode(t.Context(), clip.Units[0], 3); err != nil {
				reopen() // its process was ended, and the next one after several waits
			}
			decodes()
		})
	}
}

// confinement is what this machine has.
func confinement(t *testing.T, decoders ...string) confine.Report {
	t.Helper()
	pool := codec.NewPool(codec.Options{Decoders: decoders})
	defer pool.Close()
	found, err := pool.Capabilities(t.Context())
	require.NoError(t, err)
	return found.Confinement
}

// What runs as the library is loaded, before a single byte of a camera, reaches nobody either.
func TestTakenOverConstructor(t *testing.T) {
	v := newVictim(t)
	dir := takenOver(t, v)
	if held := confinement(t); !slices.Contains(held.InForce, "seccomp") {
		t.Skipf("this kernel has no seccomp: %s", held)
	}
	log := &logged{}
	pool := codec.NewPool(codec.Options{LibraryDirs: []string{dir}, Log: slog.New(slog.NewTextHandler(log, nil))})
	_, err := pool.Capabilities(t.Context())
	require.NoError(t, err)
	require.NoError(t, pool.Close()) // all that the process said is read
	require.Contains(t, log.String(), "the constructor got in by:.", "%s", log.String())
	v.unharmed(t)
}

// logged is a log in memory.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

package codec

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/confine"
	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/worker"
)

// environment is the variable that makes the program a decoder process; its value is a childSetup.
const environment = "VMSBRIDGE_DECODER"

// childSetup is what a decoder process is told.
type childSetup struct {
	LibraryDirs  []string `json:"libraryDirs,omitempty"`
	Video        bool     `json:"video,omitempty"` // libavcodec is needed
	PictureBytes int64    `json:"pictureBytes"`    // see engine.Options
	MoreMemory   uint64   `json:"moreMemory"`      // see confine.Limits
	Decoders     []string `json:"decoders,omitempty"`
	Shared       int      `json:"shared,omitempty"` // bytes of the memory behind descriptor 5; 0: there is none
}

// childEnvironment is all that a decoder process inherits: nothing of ours that might be secret.
func childEnvironment(setup string) []string {
	env := []string{
		environment + "=" + setup,
		"GOMAXPROCS=1",                // one call at a time
		"GOGC=50",                     // Go has a megabyte or two in use, and would have as much again waiting
		"GOMEMLIMIT=256MiB",           // of Go's heap; pictures of H.264 and H.265 are in C's
		"GOTRACEBACK=none",            // the reason of a crash is enough
		"GODEBUG=containermaxprocs=0", // no files of the control group stay open
		"MALLOC_ARENA_MAX=1",          // of libc: one thread decodes, and each arena takes 64 MiB of addresses
	}
	if path, ok := os.LookupEnv("LD_LIBRARY_PATH"); ok {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	return env
}

// RunWorker must be the first statement of main, and of TestMain in every package whose tests use a
// Pool. In a process that was started as a decoder process it serves the one that started it, and
// never returns. Otherwise it does nothing.
func RunWorker() { runWorker(nil) }

// Exit statuses of a decoder process that ends by itself.
const (
	exitDone   = 0 // the agent closed the pipe or ended
	exitBroken = 3 // the pipe broke
	exitSetup  = 4 // it was not started by the agent
)

// runWorker is RunWorker with a look at each access unit before it is decoded, for tests.
func runWorker(before func(au []byte)) {
	value, ok := os.LookupEnv(environment)
	if !ok {
		return
	}
	var setup childSetup
	requests, replies := os.NewFile(3, "requests"), os.NewFile(4, "replies")
	if err := json.Unmarshal([]byte(value), &setup); err != nil || !isPipe(3) || !isPipe(4) {
		fmt.Fprintf(os.Stderr,
			"%s is set: that is for decoder processes, which the bridge starts by itself; unset it\n", environment)
		os.Exit(exitSetup)
	}
	var shared []byte
	if setup.Shared > 0 {
		shared, _ = unix.Mmap(5, 0, setup.Shared, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED) // or by the pipe
		_ = unix.Close(5)
	}
	runtime.LockOSThread() // what confine says of threads
	identify()
	begun := confine.Begin(setup.Video && len(setup.Decoders) > 0)
	e := engine.New(engine.Options{LibraryDirs: setup.LibraryDirs, PictureBytes: setup.PictureBytes,
		Decoders: setup.Decoders})
	e.Load(setup.Video)
	e.Confined(begun.Seal(confine.Limits{MoreMemory: setup.MoreMemory}))
	debug.FreeOSMemory() // what the whole program's packages, and loading, left over
	err := worker.ServeFiles(requests, replies, shared, e, before)
	if err != nil {
		fmt.Fprintln(os.Stderr, "decoder process:", err)
		os.Exit(exitBroken)
	}
	os.Exit(exitDone)
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// identify gives the process its name and makes it the first to go when memory is short. The
// signals that end the agent do not end it: the agent does, after its last picture.
func identify() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_ = os.WriteFile("/proc/self/comm", []byte("vms-decoder"), 0)
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
}

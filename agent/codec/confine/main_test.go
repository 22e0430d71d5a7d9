package confine_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec"
)

// TestMain lets this program be the decoder processes of its tests, and a bridge whose memory
// somebody is after.
func TestMain(m *testing.M) {
	codec.RunWorker()
	inherit()
	if os.Getenv("CONFINE_TEST_BRIDGE") != "" {
		bridge()
	}
	os.Exit(m.Run())
}

// inherit makes this process one that has a file from the one that started it.
func inherit() {
	f, err := os.Open("/proc/self/exe")
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD, 20) // beyond those that are given to it
		_ = f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// bridge starts a decoder process, says so, and waits until its input ends.
func bridge() {
	if os.Getenv("CONFINE_TEST_MDWE") != "" { // as MemoryDenyWriteExecute of a systemd unit
		fmt.Println("denied:", unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
	}
	pool := codec.NewPool(codec.Options{})
	found, _ := pool.Capabilities(context.Background())
	_, err := pool.Open("gate", codec.MJPEG, 0).Decode(context.Background(), []byte("no JPEG"), 1)
	fmt.Println("decoded:", err)
	fmt.Printf("h264: %v, h265: %v, jpeg: %v, %s\n", found.H264.OK, found.H265.OK, found.JPEG.OK, found.Confinement)
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = pool.Close()
	os.Exit(0)
}

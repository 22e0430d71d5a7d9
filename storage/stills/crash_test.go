package stills

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const crashEnv = "STILLS_TEST_CRASH_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		crashChild(dir)
	}
	goleak.VerifyTestMain(m)
}

var crashOptions = Options{MaxBytes: 2 << 20, SegmentBytes: 128 << 10, FlushEvery: 5 * time.Millisecond, MinFree: -1}

// crashStill is the i-th still of a run. The time counts from the run's number, so that no two are
// alike.
func crashStill(run, i int) Still {
	return Still{"cam", Preview, epoch.Add(time.Duration(run)*time.Hour + time.Duration(i)*time.Millisecond),
		picture(uint64(run*1000000+i), 500+i%7*900)}
}

// crashChild appends until it is killed, and says what was appended.
func crashChild(dir string) {
	var run int
	fmt.Sscan(os.Getenv(crashEnv+"_RUN"), &run)
	r, err := Open(dir, crashOptions)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		if err := r.Append(crashStill(run, i)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("appended", i)
	}
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 9))
	for run := range 10 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+dir, fmt.Sprintf("%s_RUN=%d", crashEnv, run))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		after, last := 10+rng.IntN(800), -1
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == after {
				require.NoError(t, cmd.Process.Kill())
			}
			word, rest, _ := strings.Cut(lines.Text(), " ")
			require.Equal(t, "appended", word, rest)
			_, err := fmt.Sscan(rest, &last)
			require.NoError(t, err)
		}
		require.Error(t, cmd.Wait(), "it was killed")

		r, err := Open(dir, crashOptions)
		require.NoError(t, err)
		s := r.Stats()
		require.Zero(t, s.DamagedRecords+s.DamagedSegments+s.DamagedIndexes)
		// A crash of the process costs none of those that Append took, but for what the cap
		// dropped.
		want := crashStill(run, last)
		found := 0
		for at := want.Time.Add(time.Millisecond + 1); ; found++ {
			got, err := r.Find("cam", Preview, Before, at)
			if err != nil || got.Time.Before(crashStill(run, 0).Time) {
				break
			}
			i := int(got.Time.Sub(crashStill(run, 0).Time) / time.Millisecond)
			require.True(t, bytes.Equal(crashStill(run, i).JPEG, got.JPEG), "bytes differ")
			if found > 0 {
				require.True(t, at.Sub(got.Time) == time.Millisecond, "one is missing before %s", at)
			} else {
				require.GreaterOrEqual(t, i, last)
			}
			at = got.Time
		}
		require.Greater(t, found, min(last, 100))
		require.NoError(t, r.Close())
		requireClean(t, dir)
		require.LessOrEqual(t, diskBytes(t, dir), crashOptions.MaxBytes)
	}
}

package stills

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// TestConcurrent appends, finds, drops and flushes at once; under the race detector.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	opts := small
	opts.FlushEvery = time.Millisecond
	r := open(t, dir, opts)
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for w := range 3 {
		camera := fmt.Sprint("cam", w)
		require.NoError(t, r.Append(still(camera, Preview, 0, 1000)))
		writers.Go(func() {
			for i := 1; i < 400; i++ {
				if err := r.Append(still(camera, Preview, time.Duration(i)*time.Second, 1000+i%5000)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				at := epoch.Add(time.Duration(i%400) * time.Second)
				got, err := r.Find(camera, Preview, []Op{Before, AtOrBefore, At, AtOrAfter, After}[i%5], at)
				if _, none := errors.AsType[*NoneError](err); none {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				n := int(got.Time.Sub(epoch) / time.Second)
				size := 1000 + n%5000
				if n == 0 {
					size = 1000
				}
				if !bytes.Equal(got.JPEG, still(camera, Preview, time.Duration(n)*time.Second, size).JPEG) {
					t.Errorf("still %d has other bytes", n)
					return
				}
			}
		})
	}
	readers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = r.Stats()
			if err := r.Flush(); err != nil {
				t.Error(err)
			}
			if i%20 == 0 {
				if _, err := r.Release(1); err != nil {
					t.Error(err)
				}
			}
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
	s := r.Stats()
	require.Zero(t, s.DamagedRecords+s.ReadErrors+s.FlushErrors)
	require.NoError(t, r.Close())
	requireClean(t, dir)
}

// TestFindDoesNotWaitForFlush holds up a flush for as long as the finds take. Appends go on too.
func TestFindDoesNotWaitForFlush(t *testing.T) {
	syncing, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	opts := small
	opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpSync {
			once.Do(func() { close(syncing) })
			<-release
		}
		return nil
	})
	r := open(t, t.TempDir(), opts)
	s := still("cam", Preview, 0, 1000)
	require.NoError(t, r.Append(s))
	flushed := make(chan error)
	go func() { flushed <- r.Flush() }()
	<-syncing
	for i := range 20 { // over several segments
		requireStill(t, r, s, At, s.Time)
		s = still("cam", Preview, time.Duration(i)*time.Second, 14000)
		require.NoError(t, r.Append(s))
	}
	close(release)
	require.NoError(t, <-flushed)
}

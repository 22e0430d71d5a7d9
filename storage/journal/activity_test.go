package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func reopenNotes(t *testing.T, l *activityLog) *activityLog {
	t.Helper()
	again, err := openActivityLog(l.path)
	require.NoError(t, err)
	return again
}

func TestWhatIsNotedIsFoundAfterACrash(t *testing.T) {
	l, err := openActivityLog(filepath.Join(t.TempDir(), "notes"))
	require.NoError(t, err)
	want := map[string]int64{}
	for n := range 700 { // some times round both halves
		notes := map[string]int64{}
		for i := range 10 {
			id := fmt.Sprintf("camera%02d-2026-11-22T15:18:38.267+00:00-vms.motionDetectionEvent.v1", (n+i)%40)
			notes[id], want[id] = int64(n), int64(n)
		}
		require.NoError(t, l.Note(notes))
		if n%69 == 0 {
			require.Equal(t, want, reopenNotes(t, l).All())
		}
	}
	require.NoError(t, l.Note(map[string]int64{"late": 5, "gone": 9}))
	require.NoError(t, l.Note(map[string]int64{"late": 4}))
	l.Forget("gone")
	last, ok := reopenNotes(t, l).Last("late")
	require.True(t, ok)
	require.Equal(t, int64(5), last)
	info, err := os.Stat(l.path)
	require.NoError(t, err)
	require.Equal(t, int64(2*halfBytes), info.Size())

	l = reopenNotes(t, l) // and goes on in a new file
	want["late"], want["gone"] = 6, 9
	require.NoError(t, l.Note(map[string]int64{"late": 6}))
	require.Equal(t, want, reopenNotes(t, l).All())
	require.NoError(t, l.Close(true))
	require.NoFileExists(t, l.path)
	require.Empty(t, reopenNotes(t, l).All())
}

// However many there are, what is noted has bounds, and the latest count.
func TestMoreThanHaveRoom(t *testing.T) {
	l, err := openActivityLog(filepath.Join(t.TempDir(), "notes"))
	require.NoError(t, err)
	many := map[string]int64{}
	for n := range 5000 {
		many[fmt.Sprintf("%0100d", n)] = int64(n)
	}
	require.NoError(t, l.Note(many))
	require.NoError(t, l.Note(map[string]int64{"one": 6000}))
	again := reopenNotes(t, l)
	require.Greater(t, len(again.All()), 1000)
	for _, id := range []string{"one", fmt.Sprintf("%0100d", 4999)} {
		_, ok := again.Last(id)
		require.True(t, ok, id)
	}
}

// Damage costs the records from there on, and is never taken for a note.
func TestDamage(t *testing.T) {
	l, err := openActivityLog(filepath.Join(t.TempDir(), "notes"))
	require.NoError(t, err)
	for n := range 100 {
		require.NoError(t, l.Note(map[string]int64{"a": int64(n), fmt.Sprint("b", n): int64(n)}))
	}
	whole, err := os.ReadFile(l.path)
	require.NoError(t, err)
	for at := 0; at < 4000; at += 23 {
		b := append([]byte(nil), whole...)
		b[at] ^= 0x40
		require.NoError(t, os.WriteFile(l.path, b, 0o600))
		for id, ms := range reopenNotes(t, l).All() {
			if id != "a" {
				require.Equal(t, fmt.Sprint("b", ms), id)
			}
			require.LessOrEqual(t, ms, int64(99))
		}
	}
	require.NoError(t, os.WriteFile(l.path, whole[:3000], 0o600))
	_, ok := reopenNotes(t, l).Last("b1")
	require.True(t, ok)
}

func FuzzRead(f *testing.F) {
	f.Add(encodeNotes(map[string]int64{"camera-1": 7, "": 1}))
	f.Add([]byte{0, 0, 0, 200, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		readNotes(b, func(id string, ms int64) { require.LessOrEqual(t, len(id), len(b)) })
	})
}

package stills

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/form"
)

// made is a ring of 60 stills in eight segments or so, closed.
func made(t *testing.T) (dir string, list []Still) {
	t.Helper()
	dir = memDir(t)
	r, err := Open(dir, small)
	require.NoError(t, err)
	for i := range 60 {
		s := still("cam", Preview, time.Duration(i)*time.Second, 7000+i)
		list = append(list, s)
		require.NoError(t, r.Append(s))
	}
	require.NoError(t, r.Close())
	requireClean(t, dir)
	return dir, list
}

func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	return names
}

// survey is how many of the stills are found by their time; each that is found is as it was, and asking before any time
// gives the one that survived next.
func survey(t *testing.T, r *Ring, list []Still) (found int) {
	t.Helper()
	var last *Still
	for i, s := range list {
		if last != nil {
			requireStill(t, r, *last, Before, s.Time)
		}
		got, err := r.Find(s.Camera, s.Kind, At, s.Time)
		if err != nil {
			reason(t, err)
			continue
		}
		require.True(t, bytes.Equal(s.JPEG, got.JPEG))
		last = &list[i]
		found++
	}
	return found
}

func edit(t *testing.T, path string, f func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, f(b), 0o600))
}

var (
	flip = func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at] ^= 16; return b } }
	zero = func(from, to int) func([]byte) []byte { return func(b []byte) []byte { clear(b[from:to]); return b } }
	cut  = func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
)

// segmentEnd is where a segment of made ends, recordBytes about how long a record is; the first one begins at 64.
const (
	segmentEnd  = 64 << 10
	recordBytes = 7040
)

// damage is something that can happen to the ring that made makes.
type damage struct {
	name    string
	segment int // which; -1 the last
	damage  func([]byte) []byte
	other   func(t *testing.T, dir string, names []string)
	lost    int
	back    int  // how many of the lost Repair brings back
	clean   bool // Check finds nothing wrong
	healed  bool // Check finds something, but nothing after the next Open
	stats   Stats
}

func (c *damage) do(t *testing.T, dir string) {
	t.Helper()
	names := segmentFiles(t, dir)
	require.Len(t, names, 7)
	if c.other != nil {
		c.other(t, dir, names)
	} else {
		edit(t, names[(c.segment+len(names))%len(names)], c.damage)
	}
}

var damages = []damage{
	{name: "none", segment: 2, damage: func(b []byte) []byte { return b }, clean: true},
	{name: "flipped bit in a body", segment: 2, damage: flip(64 + 100), lost: 1},
	{name: "flipped bit in a record header", segment: 2, damage: flip(64 + 4), lost: 1},
	{name: "flipped bit in the checksum", segment: 2, damage: flip(64 + 29), lost: 1},
	{name: "flipped bit in the index", segment: 2, damage: func(b []byte) []byte { b[binary.LittleEndian.Uint32(b[len(b)-24:])+20] ^= 1; return b }, healed: true, stats: Stats{DamagedIndexes: 1}},
	{name: "flipped bit in the last block", segment: 2, damage: flip(segmentEnd - 30), healed: true},
	{name: "flipped bit in the first block", segment: 2, damage: flip(9), healed: true},
	{name: "first page zeroed", segment: 2, damage: zero(0, 4096), lost: 1},
	{name: "last page zeroed", segment: 2, damage: zero(segmentEnd-4096, segmentEnd), lost: 1, healed: true},
	{name: "first block of another segment", other: func(t *testing.T, dir string, names []string) { copyBlock(t, names[1], names[2], 0) }, healed: true},
	{name: "last block of another segment", other: func(t *testing.T, dir string, names []string) {
		copyBlock(t, names[1], names[2], segmentEnd-form.BlockBytes)
	}, healed: true},
	{name: "page in the middle zeroed", segment: 2, damage: zero(3*4096, 4*4096), lost: 2},
	{name: "both ends zeroed", segment: 2, damage: func(b []byte) []byte { return zero(segmentEnd-64, segmentEnd)(zero(0, 64)(b)) }, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "all zero", segment: 2, damage: zero(0, segmentEnd), lost: 9, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "cut in the middle", segment: 2, damage: cut(segmentEnd / 2), lost: 5},
	{name: "cut to nothing", segment: 2, damage: cut(0), lost: 9, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "last segment cut in the middle of a record", segment: -1, damage: cut(64 + recordBytes*3/2), lost: 5},
	{name: "last segment: torn record", segment: -1, damage: zero(64+5*recordBytes+3000, segmentEnd-64), lost: 1, clean: true},
	{name: "last segment: a record never arrived, the next ones did", segment: -1, damage: zero(64+2*recordBytes, 64+3*recordBytes+100), lost: 2, healed: true},
	{name: "last segment: half made", segment: -1, damage: zero(8, segmentEnd), lost: 6, clean: false, healed: true},
	{name: "last segment: first block lost", segment: -1, damage: zero(0, 64), healed: true},
	{name: "last segment: last block lost", segment: -1, damage: zero(segmentEnd-64, segmentEnd), healed: true},
	{name: "segment missing", other: func(t *testing.T, dir string, names []string) { require.NoError(t, os.Remove(names[2])) }, lost: 9, clean: true},
	{name: "last segment missing", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Remove(names[len(names)-1]))
	}, lost: 6, clean: true},
	{name: "segment duplicated under another number", other: func(t *testing.T, dir string, names []string) {
		copyFile(t, names[2], filepath.Join(dir, form.SegmentName(900)))
	}, stats: Stats{DamagedSegments: 1}},
	{name: "segment duplicated under a foreign name", other: func(t *testing.T, dir string, names []string) {
		copyFile(t, names[2], names[2]+".bak")
	}, clean: true, stats: Stats{ForeignFiles: 1}},
	{name: "foreign files", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), []byte("hello"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "stills-1.seg"), []byte("hello"), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	}, clean: true, stats: Stats{ForeignFiles: 2}},
	{name: "foreign file with a segment's name", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, form.SegmentName(999)), bytes.Repeat([]byte("hello"), 20000), 0o600))
	}, stats: Stats{DamagedSegments: 1}},
	{name: "two segments swapped", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Rename(names[1], names[1]+"x"))
		require.NoError(t, os.Rename(names[2], names[1]))
		require.NoError(t, os.Rename(names[1]+"x", names[2]))
	}, lost: 18, back: 18, stats: Stats{DamagedSegments: 2}},
}

func TestDamage(t *testing.T) {
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			dir, list := made(t)
			c.do(t, dir)
			before, err := Check(dir)
			require.NoError(t, err)
			r := open(t, dir, small)
			s := r.Stats()
			require.Equal(t, c.stats.DamagedSegments, s.DamagedSegments)
			require.Equal(t, c.stats.DamagedIndexes, s.DamagedIndexes)
			require.Equal(t, c.stats.ForeignFiles, s.ForeignFiles)
			found := survey(t, r, list)
			require.Equal(t, len(list)-c.lost, found, "stills that survive")
			require.Equal(t, c.clean, before.Clean(), "%v", before.Problems)
			// It goes on.
			for i := range 30 {
				next := still("cam", Preview, time.Hour+time.Duration(i), 5000)
				require.NoError(t, r.Append(next))
				requireStill(t, r, next, At, next.Time)
			}
			require.Equal(t, found, survey(t, r, list), "going on costs none")
			require.NoError(t, r.Close())
			after, err := Check(dir)
			require.NoError(t, err)
			require.Equal(t, c.clean || c.healed, after.Clean(), "%v", after.Problems)
			r = open(t, dir, small)
			require.Equal(t, found, survey(t, r, list), "nor does another start")
		})
	}
}

// TestRepair does the same damage to a ring, and repairs it instead of opening it: then nothing is wrong any more, and all
// stills that can be read are found. A second repair has nothing to do.
func TestRepair(t *testing.T) {
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			dir, list := made(t)
			c.do(t, dir)
			before := everything(t, dir)
			rep, err := Repair(dir, small)
			require.NoError(t, err)
			require.Empty(t, rep.Problems, "%v", rep.Repairs)
			require.Empty(t, rep.ForeignFiles)
			require.Equal(t, c.clean && c.stats.ForeignFiles == 0, len(rep.Repairs) == 0 || strings.Contains(c.name, "torn"), "%v", rep.Repairs)
			again, err := Repair(dir, small)
			require.NoError(t, err)
			require.Empty(t, again.Repairs)
			for content := range everything(t, dir) {
				delete(before, content)
			}
			for content, path := range before {
				require.NotContains(t, content, "hello", "the foreign file %s is gone", path)
			}
			r := open(t, dir, small)
			require.Equal(t, len(list)-c.lost+c.back, survey(t, r, list), "%v", rep.Repairs)
			s := r.Stats()
			require.Zero(t, s.DamagedSegments+s.DamagedIndexes+s.DamagedRecords+s.ForeignFiles+s.TornRecords)
		})
	}
}

// everything is all files below dir, by their contents.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[string(b)] = path
		return err
	}))
	return files
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

// copyBlock is a disk that writes one of a segment's ends elsewhere too.
func copyBlock(t *testing.T, from, to string, at int) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	edit(t, to, func(other []byte) []byte { copy(other[at:at+form.BlockBytes], b[at:]); return other })
}

// TestTornTail cuts what was written of the last record at every byte: whatever arrived, the stills before it are there, it
// is not, and the ring goes on.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	opts := small
	r, err := Open(dir, opts)
	require.NoError(t, err)
	var list []Still
	for i := range 3 {
		list = append(list, still("cam", Main, time.Duration(i)*time.Second, 150))
		require.NoError(t, r.Append(list[i]))
	}
	from := int(r.lanes[form.Quiet].file.Place())
	require.NoError(t, r.Append(still("cam", Main, time.Minute, 200)))
	to := int(r.lanes[form.Quiet].file.Place())
	require.NoError(t, r.Close())
	name := segmentFiles(t, dir)[0]
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for at := from; at < to; at++ {
		b := bytes.Clone(whole)
		clear(b[at:to])
		torn := !bytes.Equal(b, whole)
		require.NoError(t, os.WriteFile(name, b, 0o600))
		r, err := Open(dir, opts)
		require.NoError(t, err)
		want := 3
		if !torn {
			want = 4 // only padding was cut
		}
		require.Equal(t, want, r.Stats().Stills, "cut at %d", at-from)
		require.Equal(t, 3, survey(t, r, list))
		next := still("cam", Main, 2*time.Minute, 300)
		require.NoError(t, r.Append(next))
		require.NoError(t, r.Close())
		r, err = Open(dir, opts)
		require.NoError(t, err)
		requireStill(t, r, next, At, next.Time)
		require.Equal(t, 3, survey(t, r, list))
		require.Equal(t, want+1, r.Stats().Stills)
		require.NoError(t, r.Close())
	}
}

// TestEveryByte flips each byte of a small segment in turn: no still comes back other than it was written, and only those
// that were hit are gone.
func TestEveryByte(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, small)
	require.NoError(t, err)
	var list []Still
	for i := range 4 {
		list = append(list, still("cam", Kind(1+i%2), time.Duration(i)*time.Second, 90))
		require.NoError(t, r.Append(list[i]))
	}
	require.NoError(t, r.Gap("cam", epoch, epoch.Add(time.Second), "offline"))
	r.appendMu.Lock()
	r.retire(r.lanes[form.Quiet])
	r.appendMu.Unlock()
	require.NoError(t, r.Close())
	requireClean(t, dir)
	name := segmentFiles(t, dir)[0]
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	used := 1200
	require.Less(t, bytes.LastIndexFunc(whole[:len(whole)-64], func(r rune) bool { return r != 0 }), used)
	for _, part := range [][2]int{{0, used}, {len(whole) - 64, len(whole)}} {
		for at := part[0]; at < part[1]; at++ {
			b := bytes.Clone(whole)
			b[at] ^= 0x41
			require.NoError(t, os.WriteFile(name, b, 0o600))
			r, err := Open(dir, small)
			require.NoError(t, err)
			found := 0
			for _, s := range list {
				got, err := r.Find(s.Camera, s.Kind, At, s.Time)
				if err == nil {
					require.True(t, bytes.Equal(s.JPEG, got.JPEG))
					found++
				}
			}
			require.GreaterOrEqual(t, found, 3, "byte %d", at)
			require.NoError(t, r.Close())
		}
	}
	t.Logf("%d bytes", used+64)
}

func TestDamageFoundByFind(t *testing.T) {
	dir, list := made(t)
	r := open(t, dir, small)
	// The disk rots while the ring is open.
	edit(t, segmentFiles(t, dir)[1], func(b []byte) []byte { b[64+500] ^= 1; return b })
	hit := list[9-1] // eight records fill the first segment
	for range 3 {
		got, err := r.Find("cam", Preview, AtOrBefore, hit.Time)
		require.NoError(t, err)
		if got.Time.Equal(hit.Time) {
			hit = list[9]
		}
	}
	require.LessOrEqual(t, r.Stats().DamagedRecords, uint64(1), "it is counted once")
	require.Equal(t, len(list)-1, survey(t, r, list))
	require.EqualValues(t, 1, r.Stats().DamagedRecords)
	require.Equal(t, len(list)-1, r.Stats().Stills)
}

// TestDamageIsTold once at Open, and once more for what is found later; an index alone is no damage.
func TestDamageIsTold(t *testing.T) {
	dir, list := made(t)
	opts := small
	var said []Damage
	opts.OnDamage = func(d Damage) { said = append(said, d) }
	hour := time.Duration(0)
	opts.Clock = func() (time.Time, time.Duration) { return epoch.Add(hour), hour }
	names := segmentFiles(t, dir)
	edit(t, names[0], func(b []byte) []byte { b[len(b)-form.BlockBytes-100] ^= 1; return b })
	r, err := Open(dir, opts)
	require.NoError(t, err)
	require.Empty(t, said)
	require.NoError(t, r.Close())
	edit(t, names[1], func([]byte) []byte { return []byte("something else") })
	r, err = Open(dir, opts)
	require.NoError(t, err)
	require.Len(t, said, 1)
	require.Equal(t, 1, said[0].Segments)
	require.Contains(t, said[0].String(), "1 segments")
	edit(t, names[3], func(b []byte) []byte { b[2000] ^= 1; return b })
	survey(t, r, list)
	require.EqualValues(t, 1, r.Stats().DamagedRecords)
	r.tell()
	require.Len(t, said, 1, "not again within the hour")
	hour = 2 * time.Hour
	r.tell()
	require.Len(t, said, 2)
	require.Equal(t, Damage{Time: epoch.Add(hour), Stills: 1}, said[1])
	r.tell()
	require.Len(t, said, 2)
	require.NoError(t, r.Close())
}

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

	"vmsbridge/storage/stills/segment"
)

// segmentEnd is where a segment of made ends, recordBytes about how long a record is; the first one
// begins at 64.
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
	{name: "flipped bit in the index", segment: 2, damage: func(b []byte) []byte {
		b[binary.LittleEndian.Uint32(b[len(b)-24:])+20] ^= 1
		return b
	}, healed: true, stats: Stats{DamagedIndexes: 1}},
	{name: "flipped bit in the last block", segment: 2, damage: flip(segmentEnd - 30), healed: true},
	{name: "flipped bit in the first block", segment: 2, damage: flip(9), healed: true},
	{name: "first page zeroed", segment: 2, damage: zero(0, 4096), lost: 1},
	{name: "last page zeroed", segment: 2, damage: zero(segmentEnd-4096, segmentEnd), lost: 1, healed: true},
	{name: "first block of another segment", other: func(t *testing.T, dir string, names []string) {
		copyBlock(t, names[1], names[2], 0)
	}, healed: true},
	{name: "last block of another segment", other: func(t *testing.T, dir string, names []string) {
		copyBlock(t, names[1], names[2], segmentEnd-segment.BlockBytes)
	}, healed: true},
	{name: "last block of another segment of its number", segment: 2, damage: func(b []byte) []byte {
		foot, _ := segment.DecodeBlock(b[len(b)-segment.BlockBytes:], segment.FootMagic)
		foot.Salt++
		return append(b[:len(b)-segment.BlockBytes], foot.Encode(segment.FootMagic)...)
	}, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "page in the middle zeroed", segment: 2, damage: zero(3*4096, 4*4096), lost: 2},
	{name: "both ends zeroed", segment: 2, damage: func(b []byte) []byte {
		return zero(segmentEnd-64, segmentEnd)(zero(0, 64)(b))
	}, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "all zero", segment: 2, damage: zero(0, segmentEnd), lost: 9, healed: true,
		stats: Stats{DamagedSegments: 1}},
	{name: "cut in the middle", segment: 2, damage: cut(segmentEnd / 2), lost: 5, healed: true},
	{name: "cut to nothing", segment: 2, damage: cut(0), lost: 9, healed: true, stats: Stats{DamagedSegments: 1}},
	{name: "last segment cut in the middle of a record", segment: -1, damage: cut(64 + recordBytes*3/2), lost: 5,
		healed: true},
	{name: "last segment: torn record", segment: -1, damage: zero(64+5*recordBytes+3000, segmentEnd-64), lost: 1,
		clean: true},
	{name: "last segment: a record never arrived, the next ones did", segment: -1,
		damage: zero(64+2*recordBytes, 64+3*recordBytes+100), lost: 2, healed: true},
	{name: "last segment: half made", segment: -1, damage: zero(8, segmentEnd), lost: 6, clean: false, healed: true},
	{name: "last segment: first block lost", segment: -1, damage: zero(0, 64), healed: true},
	{name: "last segment: last block lost", segment: -1, damage: zero(segmentEnd-64, segmentEnd), healed: true},
	{name: "segment missing", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Remove(names[2]))
	}, lost: 9, stats: Stats{DamagedSegments: 1}},
	{name: "first segment missing", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Remove(names[0]))
	}, lost: 9, stats: Stats{DamagedSegments: 1}},
	{name: "last segment missing", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Remove(names[len(names)-1]))
	}, lost: 6, stats: Stats{DamagedSegments: 1}},
	{name: "segment duplicated under another number", other: func(t *testing.T, dir string, names []string) {
		copyFile(t, names[2], filepath.Join(dir, segment.SegmentName(900)))
	}, clean: true},
	{name: "segment duplicated under a foreign name", other: func(t *testing.T, dir string, names []string) {
		copyFile(t, names[2], names[2]+".bak")
	}, clean: true, stats: Stats{ForeignFiles: 1}},
	{name: "foreign files", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), []byte("hello"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "stills-1.seg"), []byte("hello"), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	}, clean: true, stats: Stats{ForeignFiles: 2}},
	{name: "foreign file with a segment's name", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, segment.SegmentName(999)),
			bytes.Repeat([]byte("hello"), 20000), 0o600))
	}, stats: Stats{DamagedSegments: 1}},
	{name: "two segments swapped", other: func(t *testing.T, dir string, names []string) {
		require.NoError(t, os.Rename(names[1], names[1]+"x"))
		require.NoError(t, os.Rename(names[2], names[1]))
		require.NoError(t, os.Rename(names[1]+"x", names[2]))
	}, clean: true},
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
	edit(t, to, func(other []byte) []byte { copy(other[at:at+segment.BlockBytes], b[at:]); return other })
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
			if !c.clean && (strings.HasPrefix(c.name, "last segment") || strings.Contains(c.name, "in the index")) &&
				before.Clean() {
				require.NotEmpty(t, before.Torn, "a power cut does that, too")
			} else {
				require.Equal(t, c.clean, before.Clean(), "%v", before.Problems)
			}
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

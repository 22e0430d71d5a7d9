package stills

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// TestCompare changes an index in every way in which it can differ from the records, and looks at
// what is said of it.
func TestCompare(t *testing.T) {
	key := segment.Key{Camera: "cam", Kind: segment.Preview}
	records := segment.NewDraft()
	for i := range int64(3) {
		records.Add(key, segment.Entry{Time: i, Place: uint32(64 + 64*i), Size: 10})
	}
	records.AddNote(segment.Note{Type: segment.TypeGap, Camera: "cam", From: 1, To: segment.NoEnd})
	for name, c := range map[string]struct {
		change  func(x *segment.Listing)
		want    string
		damaged bool // nothing is said where the segment has damage, which the index may well not have
	}{
		"nothing": {change: func(*segment.Listing) {}},
		"less": {change: func(x *segment.Listing) {
			x.List, x.Runs[0].Hi = x.List[:2], 2
		}, want: "x: at 192: still is missing in the index", damaged: true},
		"other place": {change: func(x *segment.Listing) { x.List[1].Place = 640 },
			want: "x: at 640: index names another place than 128 for a still", damaged: true},
		"other size": {change: func(x *segment.Listing) { x.List[1].Size = 11 },
			want: "x: at 128: index gives a still 11 bytes, it has 10", damaged: true},
		"more": {change: func(x *segment.Listing) {
			x.List, x.Runs[0].Hi = append(x.List, segment.Entry{Time: 9, Place: 256, Size: 10}), 4
		}, want: "x: at 256: index lists a still that is not there"},
		"other notes": {change: func(x *segment.Listing) { x.Notes = nil },
			want: "x: index lists 0 notes, the segment has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, damaged := range []bool{false, true} {
				x := records.Listing(0, 0)
				c.change(x)
				problems := compare("x", x, records, damaged)
				if c.want == "" || damaged && !c.damaged {
					require.Empty(t, problems)
					continue
				}
				require.Len(t, problems, 1)
				require.Equal(t, c.want, problems[0].String())
			}
		})
	}
}

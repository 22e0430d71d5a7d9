package pipeline

import "vmsbridge/agent/camera"

// maxMarks is how many access units may be in a decoder at once: more than any reordering depth.
const maxMarks = 32

// keptData is how many units' bytes are kept, where they are: what a decoder without reordering
// needs, with room.
const keptData = 4

// marks remembers what is known of the access units that a decoder holds, by presentation time,
// because a picture comes out later than its unit went in, and in another order. The zero value is
// ready; one goroutine.
type marks struct {
	keepData bool // MJPEG: the camera's own JPEG is the still
	ring     [maxMarks]mark
	next     int
}

type mark struct {
	pts     int64
	used    bool
	damaged bool
	data    []byte
}

// Add remembers a unit, and forgets the one that came maxMarks before it.
func (m *marks) Add(u camera.AccessUnit) {
	k := mark{pts: u.Time.UnixMicro(), used: true, damaged: u.Damaged}
	if m.keepData {
		k.data = u.Data
		m.ring[(m.next+maxMarks-keptData)%maxMarks].data = nil
	}
	m.ring[m.next] = k
	m.next = (m.next + 1) % maxMarks
}

// Damaged tells whether the picture depends on lost or damaged data. One that is not known is taken
// as damaged.
func (m *marks) Damaged(pts int64) bool {
	k := m.find(pts)
	return k == nil || k.damaged
}

// Data is the unit as the camera sent it, or nil if it is not kept.
func (m *marks) Data(pts int64) []byte {
	if k := m.find(pts); k != nil {
		return k.data
	}
	return nil
}

func (m *marks) find(pts int64) *mark {
	for i := range m.ring {
		if m.ring[i].used && m.ring[i].pts == pts {
			return &m.ring[i]
		}
	}
	return nil
}

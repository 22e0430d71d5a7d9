package journal

import (
	"bytes"
	"container/heap"
)

// merge orders streams by their places. Every event is in one group only, so no place comes twice.
type merge struct {
	streams   []*stream
	ascending bool
}

// next goes on from the current entry, streams[0]'s.
func (m *merge) next() {
	if m.streams[0].next(); m.streams[0].place == nil {
		heap.Pop(m)
	} else {
		heap.Fix(m, 0)
	}
}

func (m *merge) Len() int { return len(m.streams) }

func (m *merge) Less(a, b int) bool {
	c := bytes.Compare(m.streams[a].place, m.streams[b].place)
	return m.ascending && c < 0 || !m.ascending && c > 0
}

func (m *merge) Swap(a, b int) { m.streams[a], m.streams[b] = m.streams[b], m.streams[a] }

func (m *merge) Push(any) { panic("no stream is added later") }

func (m *merge) Pop() any {
	last := m.streams[len(m.streams)-1]
	m.streams = m.streams[:len(m.streams)-1]
	return last
}

package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
)

// Manifest names the segments whose names are on the device, so that one that goes away without
// being dropped is missed. Numbers are sorted, the smallest first.
type Manifest struct {
	Sequence uint64 // counts up; 0: there is no manifest
	Segments []uint64
	// Lost are segments that are known to be lost. They are forgotten when the ring has dropped all
	// segments up to Until, the newest when the last of them was missed.
	Lost  []uint64
	Until uint64
}

const (
	// ManifestSlot is the size of each of the two slots.
	ManifestSlot  = 8 << 10
	manifestMagic = "VMSTILLM"
	manifestHead  = 24
	// mostLost bounds the lost segments that are remembered: the newest.
	mostLost = 400
	// maxSegments bounds what a slot can name, however it is damaged: 64 GiB of the smallest.
	maxSegments = 1 << 20
)

// Newest is the largest number that is named, 0 if none is.
func (m Manifest) Newest() uint64 {
	if len(m.Segments) == 0 {
		return 0
	}
	return m.Segments[len(m.Segments)-1]
}

// Encode is the manifest as a slot stores it. Where the slot is too small, the oldest segments are
// left out.
func (m Manifest) Encode() []byte {
	p := make([]byte, manifestHead, ManifestSlot)
	p = binary.AppendUvarint(p, m.Until)
	lost := m.Lost[max(0, len(m.Lost)-mostLost):]
	p = binary.AppendUvarint(p, uint64(len(lost)))
	for _, n := range lost {
		p = binary.AppendUvarint(p, n)
	}
	// Runs from the newest down: how many numbers below the one before, and how many follow on.
	for i, below := len(m.Segments)-1, m.Newest(); i >= 0; {
		first := i
		for first > 0 && m.Segments[first-1] == m.Segments[first]-1 {
			first--
		}
		distance := below - m.Segments[i]
		if i == len(m.Segments)-1 {
			distance = m.Newest()
		}
		if len(p)+2*binary.MaxVarintLen64 > ManifestSlot {
			break
		}
		p = binary.AppendUvarint(p, distance)
		p = binary.AppendUvarint(p, uint64(i-first))
		below, i = m.Segments[first], first-1
	}
	copy(p, manifestMagic)
	le.PutUint64(p[8:], m.Sequence)
	le.PutUint32(p[16:], uint32(len(p)))
	le.PutUint32(p[20:], manifestCRC(p))
	return p
}

// DecodeManifest reads a slot.
func DecodeManifest(p []byte) (m Manifest, err error) {
	if len(p) < manifestHead || string(p[:8]) != manifestMagic {
		return m, errors.New("slot has a foreign magic number")
	}
	n := le.Uint32(p[16:])
	if n < manifestHead || int64(n) > int64(len(p)) || manifestCRC(p[:n]) != le.Uint32(p[20:]) {
		return m, errors.New("checksum of the slot differs")
	}
	m.Sequence = le.Uint64(p[8:])
	p = p[manifestHead:n]
	ok := true
	next := func() uint64 {
		v, size := binary.Uvarint(p)
		if size <= 0 {
			ok = false
			return 0
		}
		p = p[size:]
		return v
	}
	m.Until = next()
	for range min(next(), mostLost) {
		m.Lost = append(m.Lost, next())
	}
	for below := uint64(0); ok && len(p) > 0; {
		at, more := next(), next()
		if below > 0 {
			at = below - at
		}
		if ok = ok && more < at && at-1 < below-1 && more < maxSegments-uint64(len(m.Segments)); !ok {
			break
		}
		for i := range more + 1 {
			m.Segments = append(m.Segments, at-i)
		}
		below = at - more
	}
	slices.Reverse(m.Segments)
	if !ok {
		return Manifest{}, errors.New("slot names no numbers")
	}
	return m, nil
}

// manifestCRC is the checksum of a slot, but for the four bytes that hold it.
func manifestCRC(p []byte) uint32 {
	return crc32.Update(crc32.Checksum(p[:20], castagnoli), castagnoli, p[manifestHead:])
}

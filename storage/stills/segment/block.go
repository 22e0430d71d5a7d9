package segment

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Block is the first or the last 64 bytes of a segment. The last one is written at creation too, so
// that a segment whose first page is lost still says who it is, and again when the segment is
// sealed.
type Block struct {
	Version   uint32
	Lane      uint8
	Capacity  uint32 // size of the file
	Number    uint64 // the segment's, also in its name
	Salt      uint64 // enters the checksum of every record header
	Created   int64  // nanoseconds since 1970; not in VersionEra
	Era       uint32 // VersionEra: whose times are not true yet, 24 bits; 0: they are, once shift is added
	Shift     int64  // VersionEra: nanoseconds to add to every time in the segment
	IndexAt   uint32 // last block only: 0 until sealed
	IndexLen  uint32
	indexCRC  uint32
	RecordEnd uint32 // where the records end
}

// Sealed says whether the segment is full and has its index. Only the last block knows.
func (b Block) Sealed() bool { return b.IndexAt != 0 }

// Head is the first block where b is the last one: it never says where the index is.
func (b Block) Head() Block {
	b.IndexAt, b.IndexLen, b.indexCRC, b.RecordEnd = 0, 0, 0, 0
	return b
}

// PointTo has the last block say that the segment's records end at end and the index p stands
// there.
func (b *Block) PointTo(p []byte, end uint32) {
	b.IndexAt, b.IndexLen, b.indexCRC, b.RecordEnd = end, uint32(len(p)), crc32.Checksum(p, castagnoli), end
}

// Settle adds shift to the times of a segment of an era, which is over.
func (b *Block) Settle(shift int64) { b.Era, b.Shift = 0, b.Shift+shift }

// Encode is the block as it is stored, with HeadMagic as the first one or FootMagic as the last.
func (b Block) Encode(magic string) []byte {
	p := make([]byte, BlockBytes)
	copy(p, magic)
	le.PutUint32(p[8:], b.Version)
	le.PutUint32(p[12:], b.Capacity)
	le.PutUint64(p[16:], b.Number)
	le.PutUint64(p[24:], b.Salt)
	le.PutUint64(p[32:], uint64(b.Created))
	le.PutUint32(p[40:], b.IndexAt)
	le.PutUint32(p[44:], b.IndexLen)
	le.PutUint32(p[48:], b.indexCRC)
	le.PutUint32(p[52:], b.RecordEnd)
	p[56] = b.Lane
	if b.Version == VersionEra {
		le.PutUint64(p[32:], uint64(b.Shift))
		p[57], p[58], p[59] = byte(b.Era), byte(b.Era>>8), byte(b.Era>>16)
	}
	le.PutUint32(p[60:], crc32.Checksum(p[:60], castagnoli))
	return p
}

// VersionError says that a ring was written by a newer program. Nothing was changed.
type VersionError struct {
	Path    string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d of the format, and this program knows %d to %d: install the newer "+
		"program again, or move the folder away", e.Path, e.Version, Version, VersionEra)
}

// DecodeBlock reads a block that must have that magic number. A *VersionError, still without a
// path, is for one of a newer program.
func DecodeBlock(p []byte, magic string) (Block, error) {
	if len(p) < BlockBytes {
		return Block{}, errors.New("block is cut off")
	}
	if string(p[:8]) != magic {
		return Block{}, errors.New("block has a foreign magic number")
	}
	if crc32.Checksum(p[:60], castagnoli) != le.Uint32(p[60:]) {
		return Block{}, errors.New("checksum of the block differs")
	}
	v := le.Uint32(p[8:])
	if v < Version {
		return Block{}, fmt.Errorf("block has version %d of the format, which was never released", v)
	}
	if v > VersionEra {
		return Block{}, &VersionError{Version: v}
	}
	if p[56] >= Lanes {
		return Block{}, fmt.Errorf("segment is of the unknown lane %d", p[56])
	}
	b := Block{
		Version: v, Lane: p[56],
		Capacity: le.Uint32(p[12:]), Number: le.Uint64(p[16:]), Salt: le.Uint64(p[24:]), Created: int64(
			le.Uint64(p[32:])),
		IndexAt: le.Uint32(p[40:]), IndexLen: le.Uint32(p[44:]), indexCRC: le.Uint32(p[48:]), RecordEnd: le.Uint32(
			p[52:]),
	}
	if v == VersionEra {
		b.Shift, b.Created = b.Created, 0
		b.Era = uint32(p[57]) | uint32(p[58])<<8 | uint32(p[59])<<16
	}
	if b.Capacity < MinSegmentBytes || b.Capacity > MaxSegmentBytes {
		return Block{}, fmt.Errorf("segment says it has %d bytes", b.Capacity)
	}
	if b.Sealed() && (b.IndexAt < BlockBytes || uint64(b.IndexAt)+uint64(b.IndexLen) > uint64(b.Capacity)-BlockBytes ||
		b.RecordEnd > b.IndexAt) {
		return Block{}, fmt.Errorf("index of %d bytes at %d does not fit", b.IndexLen, b.IndexAt)
	}
	return b, nil
}

// NewBlock is the head of a segment of capacity bytes that is to be made, with a salt of its own.
func NewBlock(number uint64, lane int, capacity int64, now time.Time) Block {
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // it never fails
	return Block{Version: Version, Lane: uint8(lane), Capacity: uint32(capacity), Number: number,
		Salt: le.Uint64(salt[:]), Created: now.UnixNano()}
}

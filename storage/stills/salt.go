package stills

import "math/bits"

// saltThatAdds is a salt that changes the checksum of every header by that much. CRC-32C is linear: the effects of a salt's bits
// are added without carry, and those of the lower 32 make up any change (Gaussian elimination).
func saltThatAdds(change uint32) (salt uint64) {
	var header [recordHead]byte
	var rows [32]struct { // by the highest bit of the effect
		effect uint32
		salt   uint64
	}
	none := headerCRC(header[:], 0, 0)
	for bit := range rows {
		one := uint64(1) << bit
		effect := headerCRC(header[:], one, 0) ^ none
		for effect != 0 {
			row := &rows[bits.Len32(effect)-1]
			if row.effect == 0 {
				row.effect, row.salt = effect, one
				break
			}
			effect, one = effect^row.effect, one^row.salt
		}
	}
	for change != 0 {
		row := rows[bits.Len32(change)-1]
		change, salt = change^row.effect, salt^row.salt
	}
	return salt
}

// unsaltedRecord reads a header whose salt is lost, and so without its checksum; salted is what the salt adds to that, if the header is
// as it was. room is what there is for the record, which begins at at.
func unsaltedRecord(p []byte, at uint32, room int64) (h record, salted uint32, ok bool) {
	if !begins(p) {
		return record{}, 0, false
	}
	h = record{length: le.Uint32(p[4:]), time: int64(le.Uint64(p[8:])), kind: p[16], stream: Kind(p[17]), camera: p[18], crc: le.Uint32(p[24:])}
	salted = le.Uint32(p[28:]) ^ headerCRC(p, 0, at)
	return h, salted, recordHead+int64(h.length) <= room && uint32(h.camera) <= h.length && h.camera > 0 && h.kind >= typeStill && h.kind <= typePruned
}

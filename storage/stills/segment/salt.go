package segment

import "math/bits"

// SaltThatAdds is a salt that changes the checksum of every header by that much. CRC-32C is linear:
// the effects of a salt's bits are added without carry, and those of the lower 32 make up any
// change (Gaussian elimination).
func SaltThatAdds(change uint32) (salt uint64) {
	var header [RecordHead]byte
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

// Unsalted reads a record's header whose salt is lost, and so without its checksum; salted is what
// the salt adds to that, if the header is as it was. room is what there is for the record, which
// begins at at.
func Unsalted(p []byte, at uint32, room int64) (h Record, salted uint32, ok bool) {
	if !Begins(p) {
		return Record{}, 0, false
	}
	h = Record{Length: le.Uint32(p[4:]), Time: int64(le.Uint64(p[8:])), Type: p[16], Kind: Kind(p[17]), Camera: p[18],
		CRC: le.Uint32(p[24:])}
	salted = le.Uint32(p[28:]) ^ headerCRC(p, 0, at)
	return h, salted, RecordHead+int64(h.Length) <= room && uint32(h.Camera) <= h.Length && h.Camera > 0 &&
		h.Type >= TypeStill && h.Type <= TypePruned
}

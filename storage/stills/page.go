package stills

// thrift bounds what closing pages costs: no more than one byte in so many of what a flush brings to the device.
const thrift = 16

// closePage fills the rest of the lane's last page with a record that holds nothing, before a flush, so that the next record
// begins on a page of its own. A file system writes whole pages: else the next flush would write this one again, which
// costs a page a flush, and puts stills at risk that are on the device already, if the power goes at that moment. Where the
// rest is large beside what is flushed, or too small for a header, the page stays open. appendMu is held.
func (r *Ring) closePage(l *lane) {
	rest := -l.pos & (pageBytes - 1)
	if rest < recordHead || l.spoiled || uint64(rest)*thrift > uint64(l.pos-l.file.flushed) || !l.fits(rest, 0) {
		return
	}
	var p [recordHead]byte
	record{length: rest - recordHead, kind: typeSkip}.encode(p[:], l.block.salt, l.pos)
	// Where that does not go, nothing is lost: the next record stands here.
	if _, err := l.file.file.WriteAt(p[:], int64(l.pos)); err == nil {
		l.pos += rest
	}
}

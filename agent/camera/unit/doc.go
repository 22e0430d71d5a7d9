// Package unit makes access units of what a camera sends: RTP packets become coded pictures
// (Assembler), and these, with the parameter sets in front, the flags and the capture time, access
// units (Builder). It reads NAL unit headers, parameter sets and JPEG headers, all of them foreign
// bytes, and decodes no picture. The session gives it packets.
//
// A camera's RTP time says precisely how far apart pictures are, and often lies about more; arrival
// says roughly when, by this machine's clock, which may be set at any moment. The Timeline of a
// stream makes one time of both for each picture; the Clock is what arrival is told by.
//
//	b := unit.NewBuilder(unit.H264, 0, counts, sps, pps)
//	a, err := unit.NewAssembler(unit.H264, 1, func(c unit.Coded) {
//		if u, ok := b.Build(c); ok { … }
//	}, func(err error) { … })
//	a.Add(packet, arrival, unit.Steady)
package unit

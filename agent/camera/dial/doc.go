// Package dial makes the connections of one session to a camera, and no other: it goes to no other
// host, trusts no other certificate than it was told to, and cuts a connection whose other end is
// silent. What goes over it is the session's.
//
//	d := dial.New(dial.Options{Host: "10.0.0.5", Connect: 5 * time.Second,
//		Idle: 10 * time.Second})
//	client := &gortsplib.Client{DialContext: d.Dial, TLSConfig: d.TLSConfig(),
//		ListenPacket: dial.ListenUDP}
//	defer d.Drop()
package dial

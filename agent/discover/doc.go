// Package discover finds the cameras of a site and asks them for their streams, so that an
// installer need not know any address by heart.
//
//	// who is there: WS-Discovery on all interfaces
//	found, err := discover.Search(ctx, discover.Options{})
//	// what it offers: ONVIF, signed in
//	cam, err := discover.Ask(ctx, found[0].Addresses[0], credentials)
//	main, preview := cam.Choose() // the two streams that a bridge wants
//
// It speaks the little of ONVIF that this takes: WS-Discovery's Probe (OASIS WS-Discovery 1.0,
// April 2005, as the ONVIF Core specification 7.3 profiles it), GetSystemDateAndTime,
// GetDeviceInformation and GetServices of the device service, GetProfiles and GetStreamUri of the
// media services, version 2 (which knows H.265) before version 1. Signing in is by WS-Security
// UsernameToken digest in the camera's own time, since its clock is often wrong, and by HTTP digest
// where the camera asks for that. What cameras send is not trusted: answers are bounded, and
// addresses in them that lead elsewhere are brought back to the camera.
//
// cmd/vmsbridge prints what is found as a section of the configuration. agent/camera takes over
// from there, by RTSP.
package discover

// Package fuzz holds fuzz targets that meet the real programs from outside: what they get over
// HTTP, RTSP, a tunnel, MQTT, and what stands in their files, is damaged or made up. A target fails
// where a program ends, panics, hangs, answers 5xx (but 503), takes memory without bound, tells a
// secret, or leaves a camera without pictures that nobody touched. It says which program it was and
// what of that it did, shows what was done to it, and what in the trials shortly before.
//
// An input is a tape of bytes, from which a target reads one choice after the other: which address
// to ask, which value to send, where to damage what passes. So any bytes are an input, and behind
// its end the choices are random, but always the same for it.
//
//	scripts/fuzz 600 ./cmd/vmsbridge/fuzz     # each target for ten minutes
package fuzz

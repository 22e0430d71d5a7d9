// Package tampering_test holds the watch for tampering against drawn scenes: those in which someone
// covers, turns or blinds the camera, and those in which it only looks like it.
package tampering_test

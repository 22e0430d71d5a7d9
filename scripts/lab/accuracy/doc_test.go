// Package accuracy_test holds the detectors against drawn scenes and recorded clips, whose truth is
// known: how much of it they find, how late, and what they report while nothing is there.
// scripts/accuracy writes motion/ACCURACY.md by it.
package accuracy_test

// Package locks finds every lock of the programs that is held across I/O, a system call that may
// block, a wait for somebody else, or a function that belongs to another part: whoever else wants
// that lock waits as long as a disk, a network or a stranger pleases. Its test holds the list of
// those that are meant to be, each with its reason.
//
// It reads the sources in order, as a person would: from Lock to Unlock, through branches and
// loops, into functions that are called, by name where the call is through an interface of ours. It
// does not know of locks that are handed around as values, nor of functions that are stored and
// called later.
//
//	program, err := locks.Load("..", "./...")
//	for _, f := range program.Find() { fmt.Println(f) }
package locks

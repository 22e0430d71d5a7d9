// Package rawfd reads and writes sockets and pipes without telling Go's scheduler of each system
// call: none of them waits, as the descriptors do not block, and being told wakes the thread that
// watches for those that do, for a while and several times a picture. Waiting is still the
// scheduler's, with the deadlines of the connection or file.
//
//	in := rawfd.Reader(conn)
//	n, err := in.Read(b)
package rawfd

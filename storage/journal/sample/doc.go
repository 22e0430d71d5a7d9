// Package sample is for tests only: events to put into a journal, and folders to have one in.
//
//	j, err := journal.Open(sample.Path(t), journal.Options{})
//	err = j.Put(sample.Event("camera 1", 0, time.Second), true)
package sample

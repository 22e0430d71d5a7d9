// Package query answers questions of which events there are from the indexes of a journal's file: a
// plan takes the narrowest index, finds its groups, and merges them in the order of every list.
// What it reads is about as much as matches, see schema/format.md. It stands between the schema
// and the journal, which calls it within a read transaction.
//
//	page, cost, err := query.List(tx, vms.Query{Types: []string{vms.TypeMotion}}, nil)
package query

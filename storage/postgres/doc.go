// Package postgres keeps what the service knows in a PostgreSQL instead of in files: the small
// records (storage/database) and the events (storage/journal, whose lists it answers alike). It
// stands where those stand; cmd/vmscloud chooses by --store.
//
// What it promises:
//
//  1. When a change returns nil, PostgreSQL has committed it, as durably as it is set up to
//     (synchronous_commit, synchronous standbys).
//  2. One process changes things at a time. Open refuses while another has the database; one that
//     lost it to another, for its connection was cut, gets ErrTaken from each change and changes
//     nothing any more (see node.go). Others may stand beside it, to take its place (see await.go).
//  3. Nothing waits for ever: each call has an answer or an error within Options.Patience.
//  4. Where two transactions meet, one is run again. A function of a transaction may so run several
//     times.
//
// An error of the system's says in plain words what is wrong and what to do, and holds no password;
// Reason says it without naming anybody.
//
//	db, err := postgres.Open(ctx, "postgres://vms@db1,db2/vms", postgres.Options{Log: log})
//	if err != nil { return err }
//	defer db.Close()
//	ids, err := store.New(db.Records("identity"), store.Options{})
//	events, err := db.Events(ctx)
package postgres

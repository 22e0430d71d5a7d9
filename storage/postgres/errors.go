package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// errUnknown is wrapped where the connection broke during a commit.
var errUnknown = errors.New("it is not known whether the change was stored")

// troubles are what people can do about what PostgreSQL says, by its codes or the beginnings of
// them (https://www.postgresql.org/docs/15/errcodes-appendix.html).
var troubles = []struct{ code, hint string }{
	{"28", "PostgreSQL does not let this user in: see the user and password of the address, and pg_hba.conf"},
	{"3D000", "there is no such database: make it with createdb"},
	{"42501", "the user may not do that in PostgreSQL: make it the owner of the database, " +
		"or grant it connect on that and usage, create on its schema"},
	{"25006", "PostgreSQL is a standby that only reads: name the primary, or all hosts"},
	{"53100", "the disk of PostgreSQL is full"},
	{"53300", "PostgreSQL has too many connections: raise max_connections, or lower pool_max_conns in the address"},
	{"57P", "PostgreSQL is being stopped or started"},
	{"57014", "PostgreSQL did not answer in time: it has too much to do, or its synchronous standbys are gone"},
	{"55P03", "PostgreSQL did not answer in time: something holds its tables"},
}

// Reason is what is wrong, in words that name nobody and no machine.
func Reason(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		for _, t := range troubles {
			if strings.HasPrefix(pg.Code, t.code) {
				return t.hint
			}
		}
		return "PostgreSQL refuses: " + pg.Code
	}
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, ErrTaken):
		return ErrTaken.Error()
	case errors.Is(err, ErrBusy):
		return ErrBusy.Error()
	case errors.As(err, &connect) && strings.Contains(err.Error(), "read only connection"):
		return troubles[3].hint
	case errors.Is(err, context.DeadlineExceeded):
		return "PostgreSQL did not answer in time: is it running, can it be reached, and are its synchronous " +
			"standbys there?"
	case errors.As(err, &connect), errors.As(err, &network), pgconn.SafeToRetry(err):
		return "PostgreSQL cannot be reached: is it running, and is the address right?"
	}
	return "PostgreSQL does not answer as it should"
}

// troubleError is an error of PostgreSQL's with what to do.
type troubleError struct {
	error
	hint string
}

func (e *troubleError) Error() string { return e.hint + " (" + e.error.Error() + ")" }
func (e *troubleError) Unwrap() error { return e.error }

// plain adds to an error what people can do. pgx leaves passwords out of its errors.
func plain(err error) error {
	var done *troubleError
	var pg *pgconn.PgError
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case err == nil || errors.As(err, &done) || errors.Is(err, ErrTaken) || errors.Is(err, ErrBusy):
		return err
	case errors.As(err, &pg), errors.As(err, &connect), errors.As(err, &network),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, errUnknown), pgconn.SafeToRetry(err):
		return &troubleError{err, Reason(err)}
	}
	return err
}

// isConflict reports whether a transaction met another one and is to be run again.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// failed is what a record that cannot be read panics with.
type failed struct{ err error }

// guarded runs f and turns that panic into its error.
func guarded(f func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failed:
			err = v.err
		default:
			panic(v)
		}
	}()
	return f()
}

func must(err error) {
	if err != nil {
		panic(failed{fmt.Errorf("PostgreSQL: %w", err)})
	}
}

package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// sqliteSide has a table of blobs with an index, in WAL mode; what comes between two flushes is one
// transaction.
type sqliteSide struct {
	db, reader *sql.DB
	tx         *sql.Tx
	insert     *sql.Stmt
	before     *sql.Stmt
}

func openSQLite(dir string) (side, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := "file:" + filepath.Join(dir, "sqlite") +
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=cache_size(-65536)"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table if not exists stills(camera text, t integer, jpeg blob); create unique index " +
		"if not exists at on stills(camera, t)"); err != nil {
		return nil, err
	}
	reader, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	before, err := reader.Prepare("select t, jpeg from stills where camera = ? and t < ? order by t desc limit 1")
	return &sqliteSide{db: db, reader: reader, before: before}, err
}

func (s *sqliteSide) Append(camera string, t time.Time, jpeg []byte) (err error) {
	if s.tx == nil {
		if s.tx, err = s.db.Begin(); err != nil {
			return err
		}
		if s.insert, err = s.tx.Prepare("insert into stills values(?, ?, ?)"); err != nil {
			return err
		}
	}
	_, err = s.insert.Exec(camera, t.UnixNano(), jpeg)
	return err
}

func (s *sqliteSide) Flush() error {
	if s.tx == nil {
		return nil
	}
	err := errors.Join(s.insert.Close(), s.tx.Commit())
	s.tx = nil
	return err
}

func (s *sqliteSide) Before(camera string, t time.Time) (time.Time, []byte, error) {
	var at int64
	var jpeg []byte
	err := s.before.QueryRow(camera, t.UnixNano()).Scan(&at, &jpeg)
	return time.Unix(0, at), jpeg, err
}

func (s *sqliteSide) Prune(bytes int64) error {
	_, err := s.db.Exec("delete from stills where rowid <= (select min(rowid) from (select rowid, sum(length(jpeg)) "+
		"over (order by rowid) as n from stills) where n >= ?)", bytes)
	if err == nil {
		_, err = s.db.Exec("pragma wal_checkpoint(truncate)")
	}
	return err
}

func (s *sqliteSide) Close() error { return errors.Join(s.Flush(), s.reader.Close(), s.db.Close()) }

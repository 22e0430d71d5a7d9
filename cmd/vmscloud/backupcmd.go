package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/database"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/identity/store"
)

// backupFiles are the parts of a backup, in the order in which their states are taken: events name
// devices, which name accounts.
var backupFiles = []string{eventsFile, registryFile, identityFile}

type backupCmd struct {
	dataFlag
	jsonFlag
	File string `arg:"" help:"File to write, which must not be there yet." type:"path"`
}

func (backupCmd) Help() string {
	return `Writes accounts, users, tokens, bridges, cameras and events into one file, whether the service runs or not, and reads it back to verify it.
The file holds secrets: only its owner may read it. Stills are with the bridges, and not in it.`
}

func (c backupCmd) Run() (err error) {
	part := c.File + ".part"
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("make the backup: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			os.Remove(part)
		}
	}()
	if _, err := os.Lstat(c.File); err == nil {
		return fmt.Errorf("%s is there already: name another file", c.File)
	}
	progress := cli.NewProgress(os.Stderr)
	defer progress.End()
	if err := c.write(progress.Writer(f, "written")); err != nil {
		return err
	}
	progress.Now("verifying")
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	list, err := verifyBackup(f, size)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = guard.Rename(part, c.File)
	}
	if err != nil {
		return fmt.Errorf("verify the backup: %w; try again", err)
	}
	progress.End()
	return c.said(os.Stdout, object{"file": c.File, "files": len(list), "bytes": size},
		"%s: %d files, %.1f MB, verified. Bring it back with: vmscloud restore --data %s %[1]s\n", c.File, len(list),
		float64(size)/1e6, c.Data)
}

// write asks the running vmscloud if there is one, else it opens the files.
func (c backupCmd) write(w io.Writer) error {
	if a := dialAdmin(filepath.Join(c.Data, adminSocket)); a != nil {
		defer a.CloseIdleConnections()
		a.Timeout = 0
		res, err := a.Post("http://vmscloud/backup", "", nil)
		if err != nil {
			return fmt.Errorf("ask the running vmscloud: %w", err)
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode == http.StatusConflict {
			return errors.New(inPostgres)
		}
		if res.StatusCode != http.StatusOK {
			return errors.New("the running vmscloud is of another version, or is ending: start it anew")
		}
		_, err = io.Copy(w, res.Body)
		return err
	}
	at := storeFlag{dataFlag: c.dataFlag}
	if err := at.exists(); err != nil {
		return err
	}
	s, err := openIdentity(at)
	if err != nil {
		return err
	}
	defer s.close()
	reg, err := registry.Open(filepath.Join(c.Data, registryFile))
	if err != nil {
		return err
	}
	defer reg.Close()
	events, err := journal.Open(filepath.Join(c.Data, eventsFile), journal.Options{})
	if err != nil {
		return err
	}
	defer events.Close()
	return writeBackup(w, backupParts(s.ids, reg, events))
}

func backupParts(ids *store.Store, reg *registry.Registry, events *journal.Journal) []backupPart {
	return []backupPart{{name: eventsFile, begin: events.Begin}, {name: registryFile, begin: reg.File().Begin},
		{name: identityFile, begin: ids.File().Begin}}
}

// inPostgres says how to back up a database.
const inPostgres = "the running vmscloud keeps everything in PostgreSQL: back that up, with pg_dump or pg_basebackup"

// backupAdmin answers POST /backup on the admin socket. What breaks off lacks its end, which who
// reads it sees.
func backupAdmin(ids *store.Store, reg *registry.Registry, events *journal.Journal, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if events == nil {
			http.Error(w, inPostgres, http.StatusConflict)
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		began := time.Now()
		if err := writeBackup(w, backupParts(ids, reg, events)); err != nil {
			log.Error("a backup broke off", "error", err)
			panic(http.ErrAbortHandler)
		}
		log.Info("a backup was made", "took", time.Since(began).Round(time.Millisecond))
	}
}

// verifyBackup reads all of a backup: its checksums, and every page and record of its files.
func verifyBackup(f io.ReaderAt, size int64) ([]backupEntry, error) {
	list, err := readBackup(f, size, backupFiles...)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		pages, err := boltfile.New(e.reader(f), e.size)
		var problems []string
		switch {
		case err != nil:
			problems = []string{err.Error()}
		case e.name == eventsFile:
			var r file.Report
			if r, err = file.Inspect(pages); err == nil {
				problems = r.Problems
			}
		case e.name == identityFile:
			problems, err = database.Look(pages, store.FileOptions()), nil
		default:
			problems, err = database.Look(pages, registry.FileOptions()), nil
		}
		if err == nil && len(problems) > 0 {
			err = fmt.Errorf("%w: %s: %s", errBroken, e.name, problems[0])
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

type restoreCmd struct {
	dataFlag
	jsonFlag
	File  string `arg:"" help:"File that vmscloud backup has written." type:"existingfile"`
	Force bool   `help:"Put it in the place of what is there, which is set aside."`
}

func (restoreCmd) Help() string {
	return `Brings back what vmscloud backup has written: accounts with their ids, users, tokens, bridges, cameras and events. The service must not run.
Bridges find out by themselves what the service lacks since then, and report it again as far as they still have it.`
}

func (c restoreCmd) Run() error {
	f, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	progress := cli.NewProgress(os.Stderr)
	defer progress.End()
	progress.Now("verifying")
	list, err := verifyBackup(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", c.File, err)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	for _, e := range list {
		lock, err := guard.Lock(filepath.Join(c.Data, e.name), time.Second)
		if errors.Is(err, guard.ErrLocked) {
			return fmt.Errorf("%s is in use by a vmscloud; stop it first", c.Data)
		}
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	there := c.there()
	if len(there) > 0 && !c.Force {
		return fmt.Errorf("%s holds %s already: --force puts the backup in its place, and sets what is there aside",
			c.Data, filepath.Base(there[0]))
	}
	for _, e := range list {
		progress.Now("putting back %s", e.name)
		if err := c.place(f, e); err != nil {
			return fmt.Errorf("restore %s: %w; what was there is as before", e.name, err)
		}
	}
	// From here on only names change.
	suffix := ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, path := range there {
		if err := os.Rename(path, path+suffix); err != nil {
			return fmt.Errorf("set %s aside: %w", path, err)
		}
	}
	for _, e := range list {
		path := filepath.Join(c.Data, e.name)
		if err := os.Rename(path+restoring, path); err != nil {
			return fmt.Errorf("restore %s: %w; call this again with --force", e.name, err)
		}
	}
	if err := vfs.OS.SyncDir(c.Data); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	progress.End()
	var aside strings.Builder
	for i := range there {
		there[i] += suffix
		_, _ = fmt.Fprintf(&aside, "set aside: %s\n", there[i])
	}
	made := list[0].time.Format(time.RFC3339)
	return c.said(os.Stdout, object{"data": c.Data, "file": c.File, "made": made, "aside": there},
		"%s holds what %s had on %s. Start the service with: vmscloud run --data %[1]s\n%[4]s", c.Data, c.File, made,
		aside.String())
}

// restoring ends the name of a file that is being written.
const restoring = ".restoring"

// there are the files of a service in the folder.
func (c restoreCmd) there() (paths []string) {
	for _, name := range backupFiles {
		for _, suffix := range []string{"", database.CopySuffix, guard.RecoveringSuffix, file.LogSuffix} {
			path := filepath.Join(c.Data, name+suffix)
			if _, err := os.Lstat(path); err == nil {
				paths = append(paths, path)
			}
		}
		segments, _ := filepath.Glob(filepath.Join(c.Data, name+file.SegmentInfix+"*"))
		paths = append(paths, segments...)
	}
	return paths
}

// place writes a file of the backup beside its place.
func (c restoreCmd) place(f io.ReaderAt, e backupEntry) error {
	path := filepath.Join(c.Data, e.name+restoring)
	if err := guard.Remove(path); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, e.reader(f))
	if err == nil {
		err = guard.GiveToOwner(out)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

package signin

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"vmsbridge/uplink/vms"
)

// How often the service is asked for a token again.
const (
	// pauseBusy follows an attempt that failed for a reason that passes.
	pauseBusy = 5 * time.Second
	// pauseFinal follows a refusal that somebody at the service may take back, such as a suspended
	// account.
	pauseFinal = 5 * time.Minute
	// pauseNew is how old a token must be before another one is asked for because the service
	// refuses it.
	pauseNew = 10 * time.Second
)

// Options of New. Path and HTTP are needed.
type Options struct {
	// Path is the file that a sign-in left or will leave.
	Path string
	// HTTP asks; it must not follow redirects to another host. client.Client.HTTP is one.
	HTTP *http.Client
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: nothing is logged
}

// Source gives the bearer token in use, and gets another one when it ends or is refused. Safe for
// concurrent use.
type Source struct {
	o    Options
	turn chan struct{} // held by the one who looks at or changes what follows

	saved Saved
	file  fs.FileInfo // of what saved was read from or written to; nil: none
	dirty bool        // saved is newer than the file
	made  time.Time   // when the token in use came
	again time.Time   // not before then is the service asked
	err   error       // why the last attempt failed

	trouble atomic.Pointer[error]
	base    atomic.Pointer[string]
}

// New makes a source. It does no I/O.
func New(o Options) *Source {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Source{o: o, turn: make(chan struct{}, 1)}
}

// Trouble is why there is no good token; nil if there is one, and before it was first asked for.
func (s *Source) Trouble() error {
	if err := s.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// Base is where /api/v3.0 is, "" for where the sign-in took place.
func (s *Source) Base() string {
	if b := s.base.Load(); b != nil {
		return *b
	}
	return ""
}

// Token is a good token. refused is one that the service did not let in, "" for none: if that is
// the one in use, another one is asked for. Errors are a *vms.UnauthorizedError, which only a
// person can mend, a *vms.TransientError, or ctx's.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	token, err := s.token(ctx, refused)
	if err != nil && ctx.Err() != nil {
		return "", err // that says nothing about the sign-in
	}
	if before := s.Trouble(); err != nil && (before == nil || before.Error() != err.Error()) {
		s.o.Log.Warn("no token for the service; recording goes on, events wait", "error", err)
	} else if err == nil && before != nil {
		s.o.Log.Info("there is a token for the service again")
	}
	if err != nil {
		s.trouble.Store(&err)
	} else {
		s.trouble.Store(nil)
	}
	return token, err
}

func (s *Source) token(ctx context.Context, refused string) (string, error) {
	if err := s.reload(); err != nil {
		return "", &vms.UnauthorizedError{Message: err.Error(), Hint: signInHint}
	}
	if s.dirty && s.keep() == nil {
		s.o.Log.Info("what the service gave for the next sign-in is on the disk now")
	}
	now := s.o.Now()
	good := s.saved.Access != "" && s.saved.Access != refused
	switch {
	case good && now.Before(s.saved.Until):
		return s.saved.Access, nil
	case now.Before(s.again) && good:
		return s.saved.Access, nil // the service says itself when it is over
	case now.Before(s.again) && s.err != nil:
		return "", s.err
	case !good && s.saved.Access != "" && now.Before(s.made.Add(pauseNew)):
		return "", &vms.UnauthorizedError{Message: "the service refuses a token that it has just given",
			Hint: signInHint}
	}
	err := s.renew(ctx)
	if err == nil {
		s.err, s.again = nil, time.Time{}
		return s.saved.Access, nil
	}
	s.err = s.verdict(err)
	if busy := (*vms.TransientError)(nil); good && errors.As(s.err, &busy) {
		return s.saved.Access, nil
	}
	return "", s.err
}

const signInHint = "sign in with: vmsbridge login"

// verdict makes of a failure what a client's caller knows, and sets when to try again.
func (s *Source) verdict(err error) error {
	now := s.o.Now()
	var r *Refusal
	if !errors.As(err, &r) || !r.Final() {
		wait := pauseBusy
		if r != nil {
			wait = max(wait, r.Wait)
		}
		s.again = now.Add(wait)
		return &vms.TransientError{Err: err, RetryAfter: wait}
	}
	s.again = now.Add(pauseFinal)
	if r.forEver() {
		s.again = now.Add(10 * 365 * 24 * time.Hour) // what was refused will not become good; a new file begins anew
	}
	return &vms.UnauthorizedError{Message: r.Error(), Hint: signInHint}
}

// reload reads the file if it is another one than before.
func (s *Source) reload() error {
	info, err := os.Stat(s.o.Path)
	switch {
	case err != nil && s.file != nil && s.saved.Door != "":
		return nil // it went away; what is known is good until the end of the process
	case err == nil && s.file != nil && os.SameFile(info, s.file) && info.ModTime().Equal(s.file.ModTime()):
		return nil
	}
	saved, err := Load(s.o.Path)
	if err != nil {
		return err
	}
	s.saved, s.file, s.dirty, s.err, s.again, s.made = saved, info, false, nil, time.Time{}, time.Time{}
	s.told()
	return nil
}

// keep writes what is known to the file.
func (s *Source) keep() error {
	if err := s.saved.Keep(s.o.Path); err != nil {
		return err
	}
	s.dirty = false
	if info, err := os.Stat(s.o.Path); err == nil {
		s.file = info
	}
	return nil
}

// told lets Base know where /api/v3.0 is.
func (s *Source) told() {
	base := strings.TrimRight(s.saved.Base, "/")
	if base == "" {
		base = strings.TrimRight(s.saved.Door, "/")
	}
	s.base.Store(&base)
}

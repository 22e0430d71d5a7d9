package factor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"time"

	"vmsbridge/uplink/identity/post"
	"vmsbridge/uplink/identity/record"
	"vmsbridge/uplink/identity/secret"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/status"
	"vmsbridge/uplink/identity/store"
)

const (
	// codeTime is how long a code is good.
	codeTime = 15 * time.Minute
	// maxWrong is how many wrong codes are forgiven. The next one locks the user.
	maxWrong = 3
	// maxSent bounds how many codes one sign-in can make the service send.
	maxSent = 5
)

// Options of New. Store, Hasher and Post are needed.
type Options struct {
	Store  *store.Store
	Hasher *secret.Hasher
	Post   session.Poster // nil: no code can be sent, and whoever needs one is not let in
	Log    *slog.Logger
}

// Factor is the second factor. Safe for concurrent use; starts no goroutine.
type Factor struct {
	store  *store.Store
	hasher *secret.Hasher
	post   session.Poster
	log    *slog.Logger
}

// New makes a second factor.
func New(o Options) *Factor {
	f := &Factor{o.Store, o.Hasher, o.Post, o.Log}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	return f
}

var (
	errToken   = status.New(status.Arguments, "InvalidToken", "the token is wrong, used or expired, or needs no code")
	errKind    = status.New(status.Factor, "UnsupportedType", "two_factor_authentication_type must be sms or email")
	errNoPhone = status.New(status.Factor, "UnsupportedType", "codes cannot be sent by that: use the other two_factor_authentication_type")
	errNoWay   = status.New(status.Disabled, "CodeNotSent", "a code cannot be sent that way: use the other two_factor_authentication_type")
	errLocked  = status.New(status.Disabled, "UserLocked", "the user is disabled or locked; ask support")
	errMany    = status.New(status.Locked, "TooManyCodes", "too many codes were sent; sign in anew or wait")
	errAway    = status.New(status.Away, "CodeNotSent", "too many messages wait; try again in a minute")

	errMissing = status.New(status.Invalid, "MissingCode", "two_factor_authentication_code is needed: have a code sent first")
	errExpired = status.New(status.Invalid, "ExpiredCode", "the code has expired; have another one sent")
	errWrong   = status.New(status.Unverified, "InvalidCode", "the code is wrong")
	errTooMany = status.New(status.Locked, "UserLocked", "too many wrong codes; the user is locked, ask support")
)

// Needed says whether the user must give a code: by their own choice or by the account's.
func (f *Factor) Needed(u record.User, home record.Account) bool {
	return bool(u.IsFactorEnabled || home.IsFactorForced)
}

// noPhone is what stands for the number of a user who has none.
const noPhone = "no phone number"

// Masked are the ways to get the code, made unreadable: the first letter and the domain of an address, the last two
// digits of a number.
func (f *Factor) Masked(u record.User) session.Masked {
	out := session.Masked{SMS: noPhone, Email: "***"}
	if at := strings.LastIndexByte(u.Email, '@'); at > 0 {
		out.Email = u.Email[:1] + "***" + u.Email[at:]
	}
	if u.SMSPhone != "" {
		digits := strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, u.SMSPhone)
		out.SMS = "***" + digits[max(0, len(digits)-2):]
	}
	return out
}

// hash is what is kept of a code: bound to the ticket, so that it says nothing about another one. Ten thousand codes are
// soon tried by whoever has the file; what they would find is worth nothing without the ticket's token or the session, of
// which the file has only hashes.
func hash(t record.Ticket, code string) []byte {
	mac := hmac.New(sha256.New, t.Hash)
	mac.Write([]byte(t.UserID + "\x00" + string(t.Purpose) + "\x00" + code))
	return mac.Sum(nil)
}

// place is where codes of a kind go for a user, "" if there is none or no way to it.
func (f *Factor) place(u record.User, c post.Channel) string {
	to := u.Email
	if c == post.Text {
		to = u.SMSPhone
	}
	if f.post == nil || !f.post.Can(c) {
		return ""
	}
	return to
}

// issue makes a code for a ticket, in place of a former one, and the letter that brings it.
func issue(tx *store.Tx, t *record.Ticket, u record.User, c post.Channel, to string) post.Letter {
	code := secret.NewCode()
	t.Sent++
	t.Code = &record.Code{Hash: hash(*t, code), Channel: string(c), Expires: tx.Now().Add(codeTime)}
	t.Expires = t.Code.Expires
	return post.Letter{Kind: post.Code, Channel: c, To: to, Language: u.Language, Name: strings.TrimSpace(u.FirstName + " " + u.LastName), Code: code}
}

// hand gives a letter to the post.
func (f *Factor) hand(l post.Letter) error {
	err := f.post.Send(l)
	switch {
	case errors.Is(err, post.ErrNoWay):
		return errNoWay
	case err != nil:
		f.log.Warn("a code was not sent", "channel", l.Channel, "error", err)
		return errAway
	}
	return nil
}

// Send sends a code for the sign-in that a token stands for; a code that was sent before is worth nothing then. Errors
// are *status.Error: 400 for a token that needs no code or none at all, 412 if it cannot be sent that way or the user is
// locked, 415 for a kind other than sms and email.
func (f *Factor) Send(_ context.Context, token, kind string) error {
	c := post.Channel(kind)
	var answer error
	var l post.Letter
	err := f.store.Update(func(tx *store.Tx) error {
		var held status.Held
		held.Add(c != post.Mail && c != post.Text, errKind)
		t, u, err := pending(tx, token)
		switch {
		case errors.Is(err, errToken):
			held.Add(true, errToken)
		case err != nil:
			return err
		case u.Disabled():
			held.Add(true, errLocked)
		case f.place(u, c) == "":
			held.Add(true, errNoWay)
		}
		if answer = held.Last(status.Arguments, status.Disabled, status.Factor); answer != nil {
			return nil
		}
		if t.Sent >= maxSent {
			answer = errMany
			return nil
		}
		l = issue(tx, &t, u, c, f.place(u, c))
		return tx.PutTicket(t)
	})
	if err != nil || answer != nil {
		return errors.Join(err, answer)
	}
	return f.hand(l)
}

// pending finds the ticket of a sign-in that waits for a code, and whose it is. The error is errToken if there is none.
func pending(tx *store.Tx, token string) (record.Ticket, record.User, error) {
	t, err := tx.Ticket(secret.Hash(token))
	if missing(err) || err == nil && (!t.Good(record.PurposeLogin, tx.Now()) || !t.Factor) {
		return t, record.User{}, errToken
	} else if err != nil {
		return t, record.User{}, err
	}
	u, err := tx.User(t.UserID)
	return t, u, err
}

package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
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

var (
	errCodeToken = api.NewError(api.CodeArguments, "InvalidToken",
		"the token is wrong, used or expired, or needs no code")
	errKind = api.NewError(api.CodeFactor, "UnsupportedType",
		"two_factor_authentication_type must be sms or email")
	errNoPhone = api.NewError(api.CodeFactor, "UnsupportedType",
		"codes cannot be sent by that: use the other two_factor_authentication_type")
	errNoWay = api.NewError(api.CodeDisabled, "CodeNotSent",
		"a code cannot be sent that way: use the other two_factor_authentication_type")
	errCodeLocked = api.NewError(api.CodeDisabled, "UserLocked", "the user is disabled or locked; ask support")
	errMany       = api.NewError(api.CodeLocked, "TooManyCodes", "too many codes were sent; sign in anew or wait")
	errAway       = api.NewError(api.CodeAway, "CodeNotSent", "too many messages wait; try again in a minute")

	errMissing = api.NewError(api.CodeInvalid, "MissingCode",
		"two_factor_authentication_code is needed: have a code sent first")
	errExpired = api.NewError(api.CodeInvalid, "ExpiredCode", "the code has expired; have another one sent")
	errWrong   = api.NewError(api.CodeUnverified, "InvalidCode", "the code is wrong")
	errTooMany = api.NewError(api.CodeLocked, "UserLocked", "too many wrong codes; the user is locked, ask support")
)

// noPhone is what stands for the number of a user who has none.
const noPhone = "no phone number"

// maskedWays are the ways to get the code, made unreadable: the first letter and the domain of an
// address, the last two digits of a number.
func maskedWays(u model.User) Masked {
	out := Masked{SMS: noPhone, Email: "***"}
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

// codeHash is what is kept of a code: bound to the ticket, so that it says nothing about another
// one. Ten thousand codes are soon tried by whoever has the file; what they would find is worth
// nothing without the ticket's token or the session, of which the file has only hashes.
func codeHash(t model.Ticket, code string) []byte {
	mac := hmac.New(sha256.New, t.Hash)
	mac.Write([]byte(t.UserID + "\x00" + string(t.Purpose) + "\x00" + code))
	return mac.Sum(nil)
}

// destination is where codes of a kind go for a user, "" if there is none or no way to it.
func (d *Service) destination(u model.User, c notify.Channel) string {
	to := u.Email
	if c == notify.Text {
		to = u.SMSPhone
	}
	if d.post == nil || !d.post.Can(c) {
		return ""
	}
	return to
}

// issue makes a code for a ticket, in place of a former one, and the message that brings it.
func issue(tx *store.Tx, t *model.Ticket, u model.User, c notify.Channel, to string) notify.Message {
	code := identity.NewCode()
	t.Sent++
	t.Code = &model.Code{Hash: codeHash(*t, code), Channel: string(c), Expires: tx.Now().Add(codeTime)}
	t.Expires = t.Code.Expires
	return notify.Message{Kind: notify.Code, Channel: c, To: to, Language: u.Language,
		Name: strings.TrimSpace(u.FirstName + " " + u.LastName), Code: code}
}

// dispatch gives a message to the post.
func (d *Service) dispatch(l notify.Message) error {
	err := d.post.Send(l)
	switch {
	case errors.Is(err, notify.ErrNoChannel):
		return errNoWay
	case err != nil:
		d.log.Warn("a code was not sent", "channel", l.Channel, "error", err)
		return errAway
	}
	return nil
}

// SendCode sends a code for the sign-in that a token stands for; a code that was sent before is
// worth nothing then. Errors are *api.Error: 400 for a token that needs no code or none at all, 412
// if it cannot be sent that way or the user is locked, 415 for a kind other than sms and email.
func (d *Service) SendCode(token, kind string, codes ...int) error {
	c := notify.Channel(kind)
	var l notify.Message
	err := d.store.Update(func(tx *store.Tx) error {
		var held api.Held
		t, u, err := pending(tx, token)
		switch {
		case errors.Is(err, errCodeToken):
			held.Add(true, errCodeToken)
		case err != nil:
			return err
		case u.Disabled():
			held.Add(true, errCodeLocked)
		case d.destination(u, c) == "":
			held.Add(true, errNoWay)
		}
		held.Add(c != notify.Mail && c != notify.Text, errKind)
		if err := held.Last(codes...); err != nil {
			return err
		}
		if t.Sent >= maxSent {
			return errMany
		}
		l = issue(tx, &t, u, c, d.destination(u, c))
		return tx.PutTicket(t)
	})
	if err != nil {
		return err
	}
	return d.dispatch(l)
}

// pending finds the ticket of a sign-in that waits for a code, and whose it is. The error is
// errToken if there is none.
func pending(tx *store.Tx, token string) (model.Ticket, model.User, error) {
	t, err := tx.Ticket(identity.HashToken(token))
	if notFound(err) || err == nil && (!t.Good(model.PurposeLogin, tx.Now()) || !t.Factor) {
		return t, model.User{}, errCodeToken
	} else if err != nil {
		return t, model.User{}, err
	}
	u, err := tx.User(t.UserID)
	return t, u, err
}

// checkCode compares a code with the ticket's. It changes t and u, which the caller stores also
// when the error is a *api.Error: 401 for a missing or expired code, 406 for a wrong one, 429 when
// the user is locked now. A right code is used up. What does not look like a code is a wrong one.
func (d *Service) checkCode(tx *store.Tx, t *model.Ticket, u *model.User, code string) error {
	if u.Locked() {
		return errTooMany
	}
	if code == "" || t.Code == nil {
		return errMissing // nothing to guess: it does not count
	}
	if !tx.Now().Before(t.Code.Expires) {
		return errExpired
	}
	if identity.SameHash(codeHash(*t, code), t.Code.Hash) {
		t.Code, u.Inner.CodeFailures = nil, 0
		return nil
	}
	if u.Inner.CodeFailures++; u.Inner.CodeFailures > maxWrong {
		u.Lock(tx.Now(), "wrong codes")
		t.Code = nil
		return errTooMany
	}
	return errWrong
}

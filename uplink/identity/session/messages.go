package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// lockedTime is how long the message to a user who was locked out is worth sending.
const lockedTime = 24 * time.Hour

// maxLinks bounds how many links a user is sent in the time that one of them is good for a new
// password.
const maxLinks = 5

// enough reports whether a user was sent as many links of a kind as anybody may have sent within
// that time. They are all good still, so that nobody who asks for more makes the one worthless that
// the user is about to follow.
func enough(tx *store.Tx, u model.User, k notify.Kind) (bool, error) {
	list, err := tx.TicketsOf(u.ID)
	n := 0
	for _, t := range list {
		if t.Good(purposeOf(k), tx.Now()) && tx.Now().Sub(t.Created) < resetTime {
			n++
		}
	}
	return n >= maxLinks, err
}

func purposeOf(k notify.Kind) model.Purpose {
	if k == notify.Registration {
		return model.PurposeActivate
	}
	return model.PurposePassword
}

// Invite makes a link of a kind for a user, beside older ones, and returns the message to send once
// that is stored: Registration validates the account, UserCreated sets the first password,
// PasswordReset another.
func (d *Service) Invite(tx *store.Tx, u model.User, a model.Account, k notify.Kind) (notify.Message, error) {
	good := resetTime
	switch k {
	case notify.Registration:
		good = activateTime
	case notify.UserCreated:
		good = inviteTime
	}
	l, err := note(tx, u, a, k, tx.Now().Add(good))
	l.Token = identity.NewToken(48)
	return l, errors.Join(err, ticket(tx, l.Token, purposeOf(k), u, good))
}

// LockedOut is the message to a user who is locked out, to be sent once that is stored.
func LockedOut(tx *store.Tx, u model.User, a model.Account) (notify.Message, error) {
	return note(tx, u, a, notify.Locked, tx.Now().Add(lockedTime))
}

// note is a message without its token, noted in the store so that it is not lost if the program
// ends before it is sent.
func note(tx *store.Tx, u model.User, a model.Account, k notify.Kind, until time.Time) (notify.Message, error) {
	seq, err := tx.QueueMessage(model.QueuedMessage{UserID: u.ID, Kind: string(k), Expires: until})
	return notify.Message{Kind: k, Channel: notify.Mail, To: u.Email, Language: u.Language,
		Name:    strings.TrimSpace(u.FirstName + " " + u.LastName),
		Account: a.Name, AccountID: a.ID, UserID: u.ID, Seq: seq, Until: until}, err
}

// Send hands messages over once what they tell is stored. That one cannot be sent is logged without
// what it holds.
func (d *Service) Send(messages ...notify.Message) {
	for _, l := range messages {
		err := notify.ErrNoChannel
		if d.post != nil {
			err = d.post.Send(l)
		}
		if err != nil {
			d.log.Warn("a message was not sent", "kind", l.Kind, "channel", l.Channel, "error", err,
				"hint", "configure mail, or make a link with: vmscloud user link")
		}
	}
}

// Resume writes the messages anew that were noted and not sent when the program last ended, with
// new links, since the old ones were kept nowhere. Call it once, before anyone signs in.
func (d *Service) Resume() error {
	var messages []notify.Message
	err := d.store.Update(func(tx *store.Tx) error {
		messages = nil
		noted, err := tx.QueuedMessages()
		if err != nil {
			return err
		}
		for _, n := range noted {
			l, wanted, err := d.again(tx, n)
			if err != nil {
				return err
			}
			if !wanted {
				err = tx.DropMessage(n.UserID, n.Kind, n.Seq)
			} else if d.post != nil && d.post.Can(l.Channel) {
				messages = append(messages, l)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("resume messages: %w", err)
	}
	d.Send(messages...)
	return nil
}

// again is a noted message, written anew. wanted is false if nobody needs it any more.
func (d *Service) again(tx *store.Tx, n model.QueuedMessage) (l notify.Message, wanted bool, err error) {
	u, home, err := userAndHome(tx, n.UserID)
	if errors.Is(err, identity.ErrNotFound) {
		return l, false, nil
	} else if err != nil {
		return l, false, err
	}
	k := notify.Kind(n.Kind)
	switch {
	case !tx.Now().Before(n.Expires),
		k == notify.Registration && !home.Is(model.StatusPending),
		k == notify.UserCreated && !bool(u.IsPending),
		k == notify.Locked && !u.Locked(),
		k != notify.Locked && u.Disabled():
		return l, false, nil
	case k == notify.Locked:
		l, err = note(tx, u, home, k, n.Expires)
	default: // its link was sent to nobody
		if err = tx.DropTickets(u.ID, purposeOf(k)); err == nil {
			l, err = d.Invite(tx, u, home, k)
		}
	}
	return l, true, err
}

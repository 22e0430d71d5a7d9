package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// A device at which users signed in has a mark in a cookie: for each of a few users the id, the
// time and a code made with a key of the user's record. The mark opens nothing. It tells the owner
// of a password from the strangers who guess at it, so that these do not use up the owner's tries.
// A new password comes with a new key. Nothing is stored for each device: programs that keep no
// cookies sign in thousands of times.
const (
	markTime   = 400 * 24 * time.Hour // as long as browsers keep a cookie
	markRenew  = 30 * 24 * time.Hour
	maxSharing = 4 // users of one device
)

// markForm is one user's part of a mark. A user whose id has another form gets none.
var markForm = regexp.MustCompile(`^([A-Za-z0-9_-]{1,64})\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})$`)

// Known is a user who signed in before at a device, and what the device is called there.
type Known struct {
	User   model.User
	Device string
}

// Knows lists the users who signed in before at the device that has a mark.
func (d *Service) Knows(mark string) (list []Known, err error) {
	if mark == "" {
		return nil, nil
	}
	err = d.store.View(func(tx *store.Tx) error {
		list = nil
		for _, part := range parts(mark) {
			u, err := tx.User(markForm.FindStringSubmatch(part)[1])
			if notFound(err) {
				continue
			} else if err != nil {
				return err
			}
			if age, ok := marked(u, part, tx.Now()); ok && age < markTime {
				list = append(list, Known{u, part})
			}
		}
		return nil
	})
	return list, err
}

// parts are those of a mark that have the right form, at most as many as one may have.
func parts(mark string) []string {
	list := strings.SplitN(mark, "~", maxSharing+1)
	list = list[:min(maxSharing, len(list))]
	return slices.DeleteFunc(list, func(p string) bool { return !markForm.MatchString(p) })
}

// marked reports whether a part of a mark is the user's, and how old it is.
func marked(u model.User, part string, now time.Time) (age time.Duration, ok bool) {
	m := markForm.FindStringSubmatch(part)
	at, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil || len(u.Inner.MarkKey) == 0 || m[1] != u.ID {
		return 0, false
	}
	return now.Sub(time.Unix(at, 0)), identity.SameHash([]byte(part), []byte(partOf(u, m[2])))
}

// partOf is a user's part of the mark of a device that is known since a time.
func partOf(u model.User, since string) string {
	mac := hmac.New(sha256.New, u.Inner.MarkKey)
	mac.Write([]byte("known device " + since))
	return u.ID + "." + since + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// remember is the mark that a device is to have after a sign-in of a user, whom the caller stores:
// with the parts of the users who were known there.
func remember(u *model.User, mark string, now time.Time) string {
	have := parts(mark)
	for _, part := range have {
		if age, ok := marked(*u, part, now); ok && age < markRenew {
			return mark
		}
	}
	if len(u.Inner.MarkKey) == 0 {
		u.Inner.MarkKey = identity.HashToken(identity.NewToken(43))
	}
	part := partOf(*u, strconv.FormatInt(now.Unix(), 10))
	if !markForm.MatchString(part) {
		return ""
	}
	have = slices.DeleteFunc(have, func(p string) bool { return strings.HasPrefix(p, u.ID+".") })
	return strings.Join(append([]string{part}, have[:min(len(have), maxSharing-1)]...), "~")
}

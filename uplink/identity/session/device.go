package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

const (
	// trustTime is how long a device stays trusted after a sign-in with a code: as long as browsers
	// keep its cookie.
	trustTime = 400 * 24 * time.Hour
	// maxDevices of one user; the one that was trusted first goes.
	maxDevices = 20
	// maxSharers is how many users one device may serve.
	maxSharers = 50
	// keyChars of a tfa_key are worth 190 bits.
	keyChars = 32
)

// deviceBucket holds, by the hash of a tfa_key, the ids of the users whom it serves.
const deviceBucket = "factor"

// trusted says whether the cookie tfa_key of a device is one that the user signed in with before.
func (d *Service) trusted(u model.User, device string) bool {
	if device == "" {
		return false
	}
	h, known := identity.HashToken(device), false
	for _, x := range u.Inner.Devices {
		// Each is looked at, so that the time does not tell which one it is.
		known = identity.SameHash(x.Hash, h) && d.store.Now().Before(x.Since.Add(trustTime)) || known
	}
	return known
}

// trust notes the device, as name, with the user, in a transaction of the caller's, which stores u.
// It returns the value for the cookie: device if that serves other users already, else a new one. A
// value that was not made here is not taken over: who can put a cookie into a browser would know
// it.
func (d *Service) trust(tx *store.Tx, u *model.User, device, name string) (string, error) {
	users, err := sharers(tx, device)
	if err != nil {
		return "", err
	}
	if len(users) == 0 || len(users) >= maxSharers && !slices.Contains(users, u.ID) {
		device, users = identity.NewToken(keyChars), nil
	}
	h := identity.HashToken(device)
	kept := slices.DeleteFunc(slices.Clone(u.Inner.Devices), func(d model.Device) bool {
		return identity.SameHash(d.Hash, h) || !tx.Now().Before(d.Since.Add(trustTime))
	})
	kept = append(kept, model.Device{Hash: h, Since: tx.Now(), Name: name})
	u.SetDevices(kept[max(0, len(kept)-maxDevices):])
	if !slices.Contains(users, u.ID) {
		users = append(users, u.ID)
	}
	return device, share(tx, h, users)
}

// sharers are the ids of the users whom a device serves still, none if it is unknown.
func sharers(tx *store.Tx, device string) ([]string, error) {
	if device == "" {
		return nil, nil
	}
	raw := tx.Bucket(deviceBucket).Get(identity.HashToken(device))
	if raw == nil {
		return nil, nil
	}
	var ids, out []string
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("read trusted device: %w", err)
	}
	h := identity.HashToken(device)
	for _, id := range ids {
		u, err := tx.User(id)
		if notFound(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(u.Inner.Devices, func(d model.Device) bool {
			return identity.SameHash(d.Hash, h) && tx.Now().Before(d.Since.Add(trustTime))
		}) {
			out = append(out, id)
		}
	}
	return out, nil
}

func share(tx *store.Tx, hash []byte, users []string) error {
	raw, err := json.Marshal(users)
	if err != nil {
		return fmt.Errorf("note trusted device: %w", err)
	}
	if err := tx.Bucket(deviceBucket).Put(hash, raw); err != nil {
		return fmt.Errorf("note trusted device: %w", err)
	}
	return nil
}

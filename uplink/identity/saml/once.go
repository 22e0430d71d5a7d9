package saml

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/crewjam/saml"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity/store"
)

// The bucket holds three kinds of keys:
//
//	| key                                     | value                                        |
//	| "i" SHA-256 of account, certificate     | the issuer that this certificate signs for   |
//	| "s" SHA-256 of certificate, issuer, id  | nothing: the assertion was used              |
//	| "t" 8 bytes of seconds, key of that "s" | nothing: when it may be forgotten            |
const bucket = "saml"

// sweep bounds how many used assertions are forgotten with each new one: more than one, so that
// they do not pile up.
const sweep = 16

var (
	errReplay = errors.New("it was used before")
	errIssuer = errors.New("it is another issuer's than before; to change it, register a new certificate")
)

// once notes that an assertion is used, and the issuer of a certificate that is used for the first
// time. A provider that signs for several tenants with one key so speaks for the one that the
// account began with; a new certificate begins anew. The error says that it was used before or is
// another issuer's.
func (d *ServiceProvider) once(tx *store.Tx, w witness, a saml.Assertion) error {
	b, cert, err := tx.Bucket(bucket), string(w.cert.Raw), error(nil)
	pin := key('i', w.account.ID, cert)
	if known := b.Get(pin); known == nil {
		err = b.Put(pin, []byte(a.Issuer.Value))
	} else if string(known) != a.Issuer.Value {
		return fmt.Errorf("issuer %.200q, not %q: %w", a.Issuer.Value, known, errIssuer)
	}
	if err != nil {
		return fmt.Errorf("note issuer: %w", err)
	}
	used := key('s', w.account.ID, cert, a.Issuer.Value, a.ID)
	if b.Get(used) != nil {
		return errReplay
	}
	if err := forget(b, tx.Now()); err != nil {
		return fmt.Errorf("forget assertions: %w", err)
	}
	// From then on it is refused for its age.
	until := a.IssueInstant.Add(fresh + time.Second)
	timed := append(binary.BigEndian.AppendUint64([]byte{'t'}, uint64(max(0, until.Unix()+1))), used...)
	if err := errors.Join(b.Put(used, []byte{}), b.Put(timed, []byte{})); err != nil {
		return fmt.Errorf("note assertion: %w", err)
	}
	return nil
}

// forget removes some of the assertions that are refused for their age by now.
func forget(b database.Bucket, now time.Time) error {
	var old [][]byte
	for k := range b.Range(database.Prefix([]byte{'t'})) {
		if len(k) <= 9 || len(old) == sweep || int64(binary.BigEndian.Uint64(k[1:9])) >= now.Unix() {
			break
		}
		old = append(old, bytes.Clone(k))
	}
	for _, k := range old {
		if err := errors.Join(b.Delete(k[9:]), b.Delete(k)); err != nil {
			return err
		}
	}
	return nil
}

// key joins parts, each behind its length, so that no two lists of parts have one key.
func key(kind byte, parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return h.Sum([]byte{kind})
}

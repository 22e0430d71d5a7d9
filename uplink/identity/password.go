package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Limits of a password, in characters. The minimum is the interface's, the maximum that of the
// public service.
const (
	MinPassword = 10
	MaxPassword = 126
)

// CheckPassword says what is wrong with a password that someone wants to set, as half a sentence,
// or "". The interface calls passwords alphanumeric; more kinds of characters are taken too, since
// they only make a password better.
func CheckPassword(password string) string {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return "is not text"
	case n < MinPassword:
		return fmt.Sprintf("has fewer than %d characters", MinPassword)
	case n > MaxPassword:
		return fmt.Sprintf("has more than %d characters", MaxPassword)
	case strings.ContainsFunc(password, unicode.IsControl):
		return "holds a control character"
	case !strings.ContainsFunc(password, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return "has neither letters nor digits"
	}
	return ""
}

// Cost is what one hash takes. The zero value is DefaultCost.
type Cost struct {
	MemoryKiB uint32
	Passes    uint32
	Lanes     uint8
}

// DefaultCost is the second choice of RFC 9106 cut to what a small ARM box has, the figures that
// OWASP's password storage sheet gives for argon2id.
var DefaultCost = Cost{MemoryKiB: 19 << 10, Passes: 2, Lanes: 1}

const (
	saltBytes = 16
	keyBytes  = 32
)

// Hasher hashes passwords with argon2id. Only a few run at once, so that a flood of sign-ins cannot
// take all memory; the others wait for their turn, as WithTurn says. Safe for concurrent use.
type Hasher struct {
	cost  Cost
	turns *fairSlots
	dummy string
	runs  atomic.Int64
}

// NewHasher makes one that runs at most parallel hashes at once.
func NewHasher(cost Cost, parallel int) *Hasher {
	if cost == (Cost{}) {
		cost = DefaultCost
	}
	h := &Hasher{cost: cost, turns: newFairSlots(max(1, parallel))}
	h.dummy = h.format(make([]byte, saltBytes), make([]byte, keyBytes)) // no password has the key 0…0
	return h
}

// Hash makes the PHC string to store: $argon2id$v=19$m=…,t=…,p=…$salt$key.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt)
	key, err := h.key(ctx, password, salt, h.cost, keyBytes)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return h.format(salt, key), nil
}

// Check says whether password is the one that was hashed. An empty hash takes as long and is never
// right: it stands for a user who does not exist or has no password yet.
func (h *Hasher) Check(ctx context.Context, hash, password string) (bool, error) {
	none := hash == ""
	if none {
		hash = h.dummy
	}
	cost, salt, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got, err := h.key(ctx, password, salt, cost, uint32(len(want)))
	if err != nil {
		return false, fmt.Errorf("check password: %w", err)
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && !none, nil
}

func (h *Hasher) key(ctx context.Context, password string, salt []byte, c Cost, n uint32) ([]byte, error) {
	if err := h.turns.acquire(ctx); err != nil {
		return nil, err
	}
	defer h.turns.release()
	h.runs.Add(1)
	return argon2.IDKey([]byte(password), salt, c.Passes, c.MemoryKiB, c.Lanes, n), nil
}

// Runs is how many hashes were computed, in Hash and Check. What it grows by is the work that a
// request took.
func (h *Hasher) Runs() int64 { return h.runs.Load() }

func (h *Hasher) format(salt, key []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.MemoryKiB, h.cost.Passes,
		h.cost.Lanes, b.EncodeToString(salt), b.EncodeToString(key))
}

// parse reads a PHC string of ours. Its figures are bounded, so that a damaged record cannot ask
// for all memory.
func parse(phc string) (c Cost, salt, key []byte, err error) {
	bad := func(why string) (Cost, []byte, []byte, error) {
		return Cost{}, nil, nil, fmt.Errorf("read password hash: %s", why)
	}
	part := strings.Split(phc, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return bad("it does not have the form of argon2id")
	}
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &c.MemoryKiB, &c.Passes, &c.Lanes); err != nil {
		return bad("its cost is unreadable")
	}
	if c.Passes < 1 || c.Passes > 64 || c.Lanes < 1 || c.MemoryKiB < 8*uint32(c.Lanes) || c.MemoryKiB > 4<<20 {
		return bad("its cost is out of bounds")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(part[4])
	key, err2 := base64.RawStdEncoding.DecodeString(part[5])
	if err1 != nil || err2 != nil || len(salt) < 8 || len(key) < 16 || len(key) > 128 {
		return bad("its salt or key is unreadable")
	}
	return c, salt, key, nil
}

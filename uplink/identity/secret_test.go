package identity

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cheap is for tests only.
var cheap = Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}

func TestHashAndCheck(t *testing.T) {
	h, ctx := NewHasher(cheap, 2), t.Context()
	one, err := h.Hash(ctx, "correct horse")
	require.NoError(t, err)
	two, err := h.Hash(ctx, "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, one, two, "each has a salt of its own")
	require.NotContains(t, one, "horse")
	for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false,
		"Correct horse": false, "correct horse\x00": false} {
		got, err := h.Check(ctx, one, password)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", password)
	}
	got, err := NewHasher(Cost{MemoryKiB: 128, Passes: 2, Lanes: 1}, 1).Check(ctx, one, "correct horse")
	require.NoError(t, err)
	require.True(t, got, "a hash of another cost is still good")
}

func TestNoPasswordIsNeverRight(t *testing.T) {
	h := NewHasher(cheap, 1)
	for _, password := range []string{"", "x", strings.Repeat("\x00", 32)} {
		ok, err := h.Check(t.Context(), "", password)
		require.NoError(t, err)
		require.False(t, ok)
	}
	_, _, _, err := parse(h.dummy)
	require.NoError(t, err)
}

func TestWaitingForATurnEnds(t *testing.T) {
	h := NewHasher(cheap, 1)
	require.NoError(t, h.turns.acquire(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Hash(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.Check(ctx, "", "x")
	require.ErrorIs(t, err, context.Canceled)
}

func TestDamagedHash(t *testing.T) {
	h := NewHasher(cheap, 1)
	good, err := h.Hash(t.Context(), "x")
	require.NoError(t, err)
	for _, bad := range []string{"x", good[:len(good)-30], strings.Replace(good, "m=64", "m=999999999", 1),
		strings.Replace(good, "t=1", "t=0", 1),
		strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "m=64", "m=x", 1), good + "$"} {
		_, err := h.Check(t.Context(), bad, "x")
		require.Error(t, err, bad)
	}
}

func FuzzParse(f *testing.F) {
	h := NewHasher(cheap, 1)
	f.Add(h.dummy)
	f.Add("$argon2id$v=19$m=64,t=1,p=1$AAAA$BBBB")
	f.Fuzz(func(t *testing.T, phc string) {
		c, salt, key, err := parse(phc)
		if err == nil && (c.MemoryKiB > 4<<20 || c.Passes > 64 || len(salt) < 8 || len(key) < 16) {
			t.Fatalf("%q is taken as %+v", phc, c)
		}
	})
}

func TestCheckPassword(t *testing.T) {
	for password, ok := range map[string]bool{
		"abcdefghij": true, "1234567890": true, "abcdefghi": false, "pass word !?": true, "": false,
		"..........": false, "日本語のパスワードです": true,
		"abcdefghij\n": false, strings.Repeat("a", 126): true, strings.Repeat("a", 127): false, "abcdefghi\xff": false,
	} {
		require.Equal(t, ok, CheckPassword(password) == "", "%q: %s", password, CheckPassword(password))
	}
}

func TestRandom(t *testing.T) {
	seen, used := map[string]bool{}, map[rune]int{}
	for range 2000 {
		token := NewToken(32)
		require.Len(t, token, 32)
		require.False(t, seen[token])
		seen[token] = true
		for _, r := range token {
			used[r]++
		}
	}
	require.Len(t, used, 62)
	for r, n := range used { // 64000 draws, 1032 expected of each, standard deviation 32
		require.InDelta(t, 1032, n, 260, "%q", r)
	}
	codes := map[byte]int{}
	for range 5000 {
		code := NewCode()
		require.Regexp(t, `^[0-9]{4}$`, code)
		codes[code[0]]++
	}
	require.Len(t, codes, 10)
	require.Len(t, NewTicket(), 344)
	require.NotEqual(t, NewTicket(), NewTicket())
	require.Regexp(t, `^[0-9a-f]{12}$`, NewID())
	require.True(t, SameHash(HashToken("a"), HashToken("a")))
	require.False(t, SameHash(HashToken("a"), HashToken("b")))
	require.False(t, SameHash(HashToken("a"), nil))
}

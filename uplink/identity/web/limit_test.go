package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
)

// Whoever is right is no guesser, however often; what is wrong counts the same before, between and
// after. What makes the service write to somebody counts also when it is right, and so does work.
func TestLimitsAreForGuesses(t *testing.T) {
	b := newFixture(t, withFactor(nil), func(o *Options, _ *session.Options) {
		o.Limits = Limits{PerAddress: Limit{8, time.Minute}, PerUser: Limit{3, time.Minute},
			Work: Limit{100, time.Minute}}
	})
	for range 20 {
		b.signIn("ru@c")
	}
	for range 2 {
		b.call("POST", "/g/aaa/authenticate", "", login("ru@c", "wrong wrong 1")).want(401)
		b.signIn("ru@c")
	}
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", "wrong wrong 1")).want(401)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(429,
		"three were wrong, however many were right")

	b.EditUser("asu@c", func(u *model.User) { u.IsFactorEnabled = true })
	for range 3 {
		b.call("POST", "/g/aaa/authenticate", "", login("asu@c", password)).want(200)
	}
	b.call("POST", "/g/aaa/authenticate", "", login("asu@c", password)).want(429, "each could have a code sent")
	b.Advance(time.Hour)
	for range 3 {
		b.call("POST", "/g/aaa/forgot_password", "", args{"email": "asu@o"}).want(202)
	}
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "asu@o"}).want(429)

	b.Advance(time.Hour)
	key := b.session("ru@c")
	for range 9 {
		b.call("POST", "/g/aaa/authenticate", "", args{"username": "ru@c"}).want(400)
		b.call("POST", aaaUpdate, key, args{typeOfCode: "fax", "password": "wrong wrong 1",
			"update_json": map[string]any{"email": "x@c"}}).want(415)
		b.call("POST", "/g/aaa/change_password", key, args{"password": "short", "current_password": password}).want(400)
	}
	for range 3 {
		b.call("POST", "/g/aaa/change_password", key,
			args{"password": "short", "current_password": "wrong wrong 1"}).want(406)
	}
	b.call("POST", "/g/aaa/change_password", key, args{"password": fresh, "current_password": password}).want(429)

	b.Advance(24 * time.Hour)
	for range 50 {
		b.signIn("ru@c")
	}
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(429,
		"a hundred requests at once are enough")
}

// The limiter is a bucket that fills by the time: it neither overflows nor loses by a clock that is
// set back.
func TestLimiterCounts(t *testing.T) {
	now := monday
	l := newLimiter(Limit{2, time.Minute}, func() time.Time { return now })
	l.giveBack("x")
	l.giveBack("y")
	require.Empty(t, l.buckets, "nothing was taken")
	for _, step := range []struct {
		pass time.Duration
		back int
		want bool
	}{{0, 0, true}, {0, 0, true}, {0, 0, false}, {30 * time.Second, 0, false}, {30 * time.Second, 0, true},
		{-time.Hour, 0, false}, {time.Minute, 0, true},
		{0, 1, true}, {0, 5, true}, {0, 0, true}, {0, 0, false}, {24 * time.Hour, 0, true}, {0, 0, true},
		{0, 0, false}} {
		now = now.Add(step.pass)
		for range step.back {
			l.giveBack("x")
		}
		require.Equal(t, step.want, l.allow("x"), "%+v", step)
	}
	unlimited := newLimiter(Limit{}, func() time.Time { return now })
	for range 1000 {
		require.True(t, unlimited.allow("x"))
	}
}

package configs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDiffNamesKeysAndTakeBringsThem(t *testing.T) {
	parse := func(text string) *Config {
		cfg, err := Parse("x.yaml", []byte(text))
		require.NoError(t, err)
		return cfg
	}
	a := parse("bridge: {id: b, account: a}\nservice: {url: 'https://h', token: aaaaaaaaaaaaaaaa}\ncameras: [{id: c, " +
		"url: 'rtsp://h/'}]\n")
	require.Empty(t, Diff(a, parse("bridge: {account: a, id: b}\ncameras: [{id: d, url: 'rtsp://h/2'}]\nservice: "+
		"{token: aaaaaaaaaaaaaaaa, url: 'https://h'}\n")))
	b := parse("bridge: {id: b, account: a}\nservice: {url: 'https://h', token: hunter2hunter2hunter2}\nstills: " +
		"{max_size: 8GiB, quality: 70}\n" +
		"api: {tokens: [{name: n, token: hunter2hunter2hunter2}]}\nlog: {level: debug}\nmotion: {rate: 5}\ncameras: " +
		"[{id: c, url: 'rtsp://h/'}]\n")
	keys := Diff(a, b)
	require.Equal(t, []string{"api.tokens", "log.level", "motion.rate", "service.token", "stills.max_size",
		"stills.quality"}, keys)

	run := *a
	run.Take(b, []string{"stills.quality", "service.token"})
	require.Equal(t, []string{"service.token", "stills.quality"}, Diff(a, &run))
	require.Equal(t, "hunter2hunter2hunter2", run.Service.Token.Reveal())
	require.Equal(t, 80, a.Stills.Quality, "the one it was copied from stays")
	run.Take(b, keys)
	require.Empty(t, Diff(b, &run))
	require.Equal(t, []string{"bridge.id", "bridge.name"}, Diff(a, parse("bridge: {id: c, account: a}\nservice: "+
		"{url: 'https://h', token: aaaaaaaaaaaaaaaa}\n")), "the name follows; the broker that is not there has no keys")
	require.Equal(t, time.Duration(0), run.Motion.QuietPeriod)
}

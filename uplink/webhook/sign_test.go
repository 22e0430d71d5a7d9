package webhook

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/delivery"
)

func TestSignature(t *testing.T) {
	at, body := time.Unix(1795244400, 0), []byte(`{"a":1}`)
	header := Sign(secret, at, body)
	require.NoError(t, Verify(secret, header, body, at.Add(time.Minute), 5*time.Minute))
	// A secret may change while both count.
	require.NoError(t, Verify(secret, header+",v1="+strings.Repeat("00", 32), body, at, 0))
	for name, err := range map[string]error{
		"old":            Verify(secret, header, body, at.Add(6*time.Minute), 5*time.Minute),
		"of the future":  Verify(secret, header, body, at.Add(-6*time.Minute), 5*time.Minute),
		"another body":   Verify(secret, header, []byte(`{"a":2}`), at, time.Minute),
		"another secret": Verify("x", header, body, at, time.Minute),
		"another time":   Verify(secret, strings.Replace(header, "t=17", "t=18", 1), body, at, time.Hour*1e6),
		"nothing":        Verify(secret, "", body, at, time.Minute),
		"no time":        Verify(secret, header[strings.Index(header, "v1="):], body, at, time.Minute),
		"no signature":   Verify(secret, "t=1795244400", body, at, time.Minute),
	} {
		require.ErrorIs(t, err, ErrSignature, name)
	}
}

// The checks that SINKS.md shows are right: both take what is signed, and refuse anything else.
func TestTheDocumentedChecks(t *testing.T) {
	text, err := os.ReadFile("../SINKS.md")
	require.NoError(t, err)
	at, body := time.Now(), []byte(`{"type":"vms.motionDetectionEvent.v1","id":"gate-1"}`)
	for _, c := range []struct{ program, begin string }{{"bash", "```sh\n# check a webhook"},
		{"python3", "```python\n# check a webhook"}} {
		t.Run(c.program, func(t *testing.T) {
			path, err := exec.LookPath(c.program)
			if err != nil {
				t.Skip(c.program + " is not installed: apt install " + c.program + " (scripts/deps does)")
			}
			_, code, ok := strings.Cut(string(text), c.begin)
			require.True(t, ok, "SINKS.md shows no check for %s", c.program)
			code, _, _ = strings.Cut(code, "```")
			run := func(header string, body []byte) error {
				cmd := exec.Command(path, "-c", "#"+code)
				cmd.Env = append(os.Environ(), "SECRET="+secret, "SIGNATURE="+header)
				cmd.Stdin = strings.NewReader(string(body))
				out, err := cmd.CombinedOutput()
				t.Logf("%s", out)
				return err
			}
			require.NoError(t, run(Sign(secret, at, body), body))
			require.Error(t, run(Sign(secret, at, body), append(body, ' ')))
			require.Error(t, run(Sign("another", at, body), body))
			require.Error(t, run(Sign(secret, at.Add(-10*time.Minute), body), body))
			require.Error(t, run("", body))
		})
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("t=1795244400,v1=00", []byte("{}"))
	f.Add("t=,v1=,", []byte(nil))
	f.Add("v1=zz,t=99999999999999999999", []byte("x"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		require.Error(t, Verify("a secret that nobody knows", header, body, time.Unix(1795244400, 0), time.Hour))
	})
}

// Whatever a hook answers, the wait that follows is bounded, and what is shown is one line without
// the secret.
func FuzzAnswer(f *testing.F) {
	f.Add(503, "120", "busy")
	f.Add(429, "Sat, 21 Nov 2026 12:00:00 GMT", "slow\r\ndown")
	f.Add(400, "-1", "no "+secret)
	f.Add(302, "99999999999999999999", "\x1b[31m\xff")
	f.Fuzz(func(t *testing.T, code int, after, text string) {
		line := shown(text, secret)
		v := (&Hook{}).judge(&http.Response{StatusCode: code, Header: http.Header{"Retry-After": {after}}}, line)
		require.GreaterOrEqual(t, v.After, time.Duration(0))
		require.LessOrEqual(t, v.After, maxAsked)
		require.Equal(t, code/100 == 2, v.Kind == delivery.Taken)
		if v.Err != nil {
			require.NotContains(t, v.Err.Error(), secret)
			require.NotContains(t, v.Err.Error(), "\n")
			require.LessOrEqual(t, len([]rune(v.Err.Error())), maxReason+80)
		}
	})
}

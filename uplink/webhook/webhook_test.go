package webhook

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

func TestHooksGetWhatTheyWant(t *testing.T) {
	t.Parallel()
	all, tamper, gate := receive(t, nil), receive(t, nil), receive(t, nil)
	s := newSite(t, "all", "tamper", "gate")
	s.run(0, all.URL, nil)
	h, _ := s.run(1, tamper.URL, func(o *Options) { o.Types = []string{vms.TypeTamper} })
	s.run(2, gate.URL+"/a?key=1", func(o *Options) { o.Cameras, o.EndedOnly = []string{"gate"}, true })
	began := s.put("gate", vms.TypeMotion, 0, 0)
	eventually(t, func() bool { return len(all.ids("")) == 1 })
	s.put("gate", vms.TypeMotion, 0, time.Second)
	bad := s.put("yard", vms.TypeTamper, 1, time.Second)
	eventually(t, func() bool { return len(all.ids("")) == 3 && len(tamper.ids("")) == 1 && len(gate.ids("")) == 1 })
	eventually(t, func() bool { return h.Status().Waiting == 0 }, "what is not wanted does not wait")
	require.Equal(t, []string{began + "…", began}, all.ids("gate"))
	require.Equal(t, []string{bad}, tamper.ids(""))
	require.Equal(t, []string{began}, gate.ids(""))
}

// What a hook may see is not known for a while: its events wait, and come in order.
func TestChoosingFails(t *testing.T) {
	t.Parallel()
	r, s := receive(t, nil), newSite(t, "hook")
	var away atomic.Bool
	var asked atomic.Int64
	away.Store(true)
	s.run(0, r.URL, func(o *Options) {
		o.Choose = func(ev vms.Event) (vms.Event, bool, error) {
			if asked.Add(1); away.Load() {
				return ev, false, errors.New("the database is away")
			}
			return ev, ev.Type == vms.TypeMotion, nil
		}
	})
	first := s.put("gate", vms.TypeMotion, 0, time.Second)
	s.put("gate", vms.TypeTamper, 1, time.Second)
	second := s.put("gate", vms.TypeMotion, 2, time.Second)
	eventually(t, func() bool { return asked.Load() > 2 })
	require.Empty(t, r.ids(""))
	away.Store(false)
	eventually(t, func() bool { return len(r.ids("")) == 2 })
	require.Equal(t, []string{first, second}, r.ids(""))
}

// A hook that is away in each way there is gets everything later, in order; another one waits for
// nothing.
func TestOutages(t *testing.T) {
	t.Parallel()
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := refusing.Addr().String()
	require.NoError(t, refusing.Close())
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, ev vms.Event) bool{
		"500": with(500), "503": with(503), "429": with(429), "401": with(401), "404": with(404), "408": with(408),
		"hangs up": func(w http.ResponseWriter, _ *http.Request, _ vms.Event) bool {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = c.Close()
			}
			return false
		},
		"says nonsense": func(w http.ResponseWriter, _ *http.Request, _ vms.Event) bool {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
				_ = c.Close()
			}
			return false
		},
		"redirects away": func(w http.ResponseWriter, r *http.Request, _ vms.Event) bool {
			http.Redirect(w, r, "http://"+closed+"/", http.StatusTemporaryRedirect)
			return false
		},
		"redirects as GET": func(w http.ResponseWriter, r *http.Request, _ vms.Event) bool {
			http.Redirect(w, r, "/other", http.StatusFound)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dead, alive := receive(t, answer), receive(t, nil)
			s := newSite(t, "dead", "alive")
			h, _ := s.run(0, dead.URL, func(o *Options) {
				if name == "500" || name == "408" {
					o.StuckAfter = time.Hour // with answers of its own, the first event might be passed over by one
				}
			})
			s.run(1, alive.URL, nil)
			var want []string
			for i := range 40 {
				id := s.put("gate", vms.TypeMotion, i, 0)
				s.put("gate", vms.TypeMotion, i, time.Second)
				want = append(want, id)
			}
			eventually(t, func() bool { ids := alive.ids(""); return len(ids) > 0 && ids[len(ids)-1] == want[39] })
			eventually(t, func() bool { return dead.count() >= 3 })
			st := h.Status()
			require.False(t, st.Up)
			require.NotEmpty(t, st.Problem)
			require.Empty(t, dead.ids(""))
			require.GreaterOrEqual(t, st.Waiting, 79, "but for a beginning whose end is known, nothing is passed")
			dead.set(nil)
			eventually(t, func() bool { ids := dead.ids(""); return len(ids) > 0 && ids[len(ids)-1] == want[39] })
			eventually(t, func() bool { return h.Status().Waiting == 0 && h.Status().Up })
			ended := []string{}
			for _, id := range dead.ids("") {
				if !strings.HasSuffix(id, "…") {
					ended = append(ended, id)
				}
			}
			require.Equal(t, want, ended)
			require.Zero(t, h.Status().Refused)
		})
	}
}

// What is refused for good is left out, counted, and the reason is shown.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 413, 415, 422} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			r := receive(t, func(w http.ResponseWriter, _ *http.Request, ev vms.Event) bool {
				if ev.Type == vms.TypeTamper {
					w.WriteHeader(code)
					fmt.Fprintf(w, "no tamper\r\nplease, %s", secret)
					return false
				}
				return true
			})
			s := newSite(t, "hook")
			h, _ := s.run(0, r.URL, nil)
			s.put("gate", vms.TypeMotion, 0, time.Second)
			bad := s.put("gate", vms.TypeTamper, 1, time.Second)
			last := s.put("gate", vms.TypeMotion, 2, time.Second)
			eventually(t, func() bool { ids := r.ids(""); return len(ids) == 2 && ids[1] == last })
			eventually(t, func() bool { return h.Status().Waiting == 0 })
			require.EqualValues(t, 1, h.Status().Refused)
			require.Equal(t, fmt.Sprintf("%s: the hook answers %d: no tamper please, ***", bad, code),
				h.Status().LastRefused)
		})
	}
}

// One event that fails for ever holds up its own actor only, and that not for ever.
func TestEventThatFailsForEver(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(w http.ResponseWriter){
		"500": func(w http.ResponseWriter) { w.WriteHeader(500) },
		"503": func(w http.ResponseWriter) { w.WriteHeader(503) },
		"404": func(w http.ResponseWriter) { w.WriteHeader(404) },
		"hangs up": func(w http.ResponseWriter) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		},
	} {
		for _, actors := range []int{1, 3} {
			if actors == 1 && name != "500" {
				continue // nothing tells it from a hook that is away: order is kept, and the caps bound what waits
			}
			t.Run(fmt.Sprint(name, " of ", actors), func(t *testing.T) {
				t.Parallel()
				r := receive(t, func(w http.ResponseWriter, _ *http.Request, ev vms.Event) bool {
					if ev.Type == vms.TypeTamper {
						fail(w)
						return false
					}
					return true
				})
				s := newSite(t, "hook")
				h, _ := s.run(0, r.URL, nil)
				bad := s.put("cam0", vms.TypeTamper, 0, time.Second)
				total := 0
				eventually(t, func() bool {
					for i := range actors {
						total++
						s.put(fmt.Sprint("cam", i), vms.TypeMotion, total, time.Second)
					}
					return h.Status().Refused == 1
				})
				require.Contains(t, h.Status().LastRefused, bad)
				eventually(t, func() bool { return len(r.ids("")) == total && h.Status().Waiting == 0 },
					"%d of %d, %+v", len(r.ids("")), total, h.Status())
			})
		}
	}
}

// A whole hook that fails for long loses nothing by that.
func TestNothingIsLeftOutWhileNothingIsTaken(t *testing.T) {
	t.Parallel()
	r := receive(t, with(500))
	s := newSite(t, "hook")
	h, _ := s.run(0, r.URL, func(o *Options) { o.StuckAfter = time.Millisecond })
	for i := range 6 {
		s.put(fmt.Sprint("cam", i%3), vms.TypeMotion, i, time.Second)
	}
	eventually(t, func() bool { return r.count() > 60 })
	require.Zero(t, h.Status().Refused)
	r.set(nil)
	eventually(t, func() bool { return len(r.ids("")) == 6 })
}

func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	var first atomic.Int64
	r := receive(t, func(w http.ResponseWriter, _ *http.Request, _ vms.Event) bool {
		if first.CompareAndSwap(0, time.Now().UnixNano()) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return false
		}
		return true
	})
	s := newSite(t, "hook")
	s.run(0, r.URL, nil)
	s.put("gate", vms.TypeMotion, 0, time.Second)
	eventually(t, func() bool { return len(r.ids("")) == 1 })
	require.GreaterOrEqual(t, time.Since(time.Unix(0, first.Load())), time.Second)
	require.Equal(t, 2, r.count())

	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "5": 5 * time.Second, "-5": 0, "99999999": maxAsked,
		"x": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0} {
		require.Equal(t, want, vms.RetryAfter(http.Header{"Retry-After": {value}}, now, maxAsked), value)
	}
}

// A redirect to the same place is followed as the same request.
func TestRedirectToTheSamePlace(t *testing.T) {
	t.Parallel()
	r := receive(t, func(w http.ResponseWriter, q *http.Request, _ vms.Event) bool {
		if q.URL.Path != "/new" {
			http.Redirect(w, q, "/new", http.StatusPermanentRedirect)
			return false
		}
		return true
	})
	s := newSite(t, "hook")
	s.run(0, r.URL+"/old", nil)
	id := s.put("gate", vms.TypeMotion, 0, time.Second)
	eventually(t, func() bool { return len(r.ids("")) == 1 })
	require.Equal(t, []string{id}, r.ids(""))
}

// A hook that never answers is left after its time, and holds up neither another one nor the stop.
func TestSilentHook(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	alive := receive(t, nil)
	s := newSite(t, "silent", "alive")
	h, stop := s.run(0, "http://"+l.Addr().String()+"/secret-path",
		func(o *Options) { o.Timeout = 100 * time.Millisecond })
	s.run(1, alive.URL, nil)
	for i := range 20 {
		s.put("gate", vms.TypeMotion, i, time.Second)
	}
	eventually(t, func() bool { return len(alive.ids("")) == 20 && !h.Status().LastErrorAt.IsZero() })
	require.Contains(t, h.Status().Problem, "cannot be reached")
	require.NotContains(t, fmt.Sprintf("%+v", h.Status()), "secret-path")
	began := time.Now()
	stop()
	require.Less(t, time.Since(began), 2*time.Minute, "and not when the hook answers, which is never")
}

// What was handed over is not handed over again after a restart, but for what was under way; keys
// say what came twice.
func TestRestarts(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	s := newSite(t, "hook")
	var want []string
	for i := range 10 {
		_, stop := s.run(0, r.URL, nil)
		for k := range 10 {
			want = append(want, s.put("gate", vms.TypeMotion, 10*i+k, time.Second))
		}
		stop()
		require.NoError(t, s.journal.Close())
		s.open("hook")
	}
	h, _ := s.run(0, r.URL, nil)
	eventually(t, func() bool { return h.Status().Waiting == 0 })
	require.Equal(t, want, r.ids(""))
	require.LessOrEqual(t, r.count(), 100+10*lanes, "little came twice")
}

// What does not fit the caps is given up and counted, for that hook alone.
func TestCaps(t *testing.T) {
	t.Parallel()
	r := receive(t, with(503))
	s := newSite(t, "hook")
	h, stop := s.run(0, r.URL, nil)
	for i := range 30 {
		s.put("gate", vms.TypeMotion, i, time.Second)
	}
	eventually(t, func() bool { return r.count() > 0 })
	stop()
	reg := prometheus.NewRegistry()
	h, _ = s.run(0, r.URL, func(o *Options) { o.Caps, o.Registerer = delivery.Caps{Events: 10}, reg })
	// Once it has failed, it tries one at a time: no others are on their way when they are given
	// up. What the receiver counts may be of the run before.
	eventually(t, func() bool {
		return h.Status().Skipped == 20 && !h.Status().LastErrorAt.IsZero()
	})
	require.Equal(t, 10, h.Status().Waiting)
	r.set(nil)
	eventually(t, func() bool { return h.Status().Waiting == 0 })
	sent := len(r.ids(""))
	require.GreaterOrEqual(t, sent, 10)
	require.LessOrEqual(t, sent, 11, "one may have been on its way when it was given up")
	found, err := reg.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, f := range found {
		m := f.GetMetric()[0]
		require.Equal(t, "webhook/hook", m.GetLabel()[0].GetValue())
		values[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	require.EqualValues(t, 20, values["vmsbridge_home_skipped_events"])
	require.EqualValues(t, sent, values["vmsbridge_home_sent_total"])
	require.EqualValues(t, 1, values["vmsbridge_home_up"])
}

// A hook that does whatever it likes, also take an event and break the connection before it has
// said so, and a bridge that is stopped in between: each event arrives, and those of one actor in
// order.
func TestWhateverTheHookDoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 3)) // under the receiver's lock
			r := receive(t, func(w http.ResponseWriter, q *http.Request, _ vms.Event) bool {
				switch n := rng.IntN(20); {
				case n < 9:
					w.WriteHeader(200 + rng.IntN(5))
					return true
				case n < 11: // taken, and nobody hears of it
					hangUp(w)
					return true
				case n < 13:
					hangUp(w)
				case n < 14:
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(429)
				default:
					w.WriteHeader([]int{500, 502, 503, 408, 401, 404, 302}[rng.IntN(7)])
				}
				return false
			})
			s := newSite(t, "hook")
			want := map[string][]string{}
			// No event is at fault, though each fails often.
			patient := func(o *Options) { o.StuckAfter = time.Hour }
			for i := range 5 {
				_, stop := s.run(0, r.URL, patient)
				for k := range 30 {
					actor := fmt.Sprint("cam", rand.IntN(3))
					want[actor] = append(want[actor], s.put(actor, vms.TypeMotion, 30*i+k, time.Second))
				}
				stop()
				require.NoError(t, s.journal.Close())
				s.open("hook")
			}
			h, _ := s.run(0, r.URL, patient)
			eventually(t, func() bool { return h.Status().Waiting == 0 }, "%+v", h.Status())
			for actor, ids := range want {
				require.Equal(t, ids, r.ids(actor))
			}
			require.Zero(t, h.Status().Refused)
		})
	}
}

func hangUp(w http.ResponseWriter) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = c.Close()
	}
}

// An event whose time is not known yet is not told, nor what comes after it, until it is.
func TestUntrueClock(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	s := newSite(t, "hook")
	h, _ := s.run(0, r.URL, nil)
	id := s.put("gate", vms.TypeMotion, 0, time.Second)
	eventually(t, func() bool { return len(r.ids("")) == 1 })
	ev, err := s.journal.Get(id)
	require.NoError(t, err)
	ev.StartTimestamp, ev.EndTimestamp = vms.At(time.Unix(60, 0)), vms.Ptr(time.Unix(61, 0))
	ev.ID = ev.NaturalID()
	require.NoError(t, s.journal.Write(journal.Record{Event: ev, Era: 7})[0])
	later := s.put("gate", vms.TypeMotion, 5, time.Second)
	eventually(t, func() bool { return h.Status().Waiting == 2 })
	_, _, err = s.journal.Settle(7, began.Sub(time.Unix(0, 0)), nil)
	require.NoError(t, err)
	eventually(t, func() bool { return len(r.ids("")) == 3 })
	require.Equal(t, later, r.ids("")[1], "it got its time after that one was put")
	require.NotContains(t, r.ids(""), ev.ID)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	r := &receiver{t: t, keys: map[string]int{}, seen: map[string]bool{}}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	der := r.Certificate().Raw
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	s := newSite(t, "authority", "pin", "unknown", "wrong")
	s.run(0, r.URL, func(o *Options) { o.CAFile = ca })
	s.run(1, r.URL, func(o *Options) { o.Fingerprint = fmt.Sprintf("%x", sha256.Sum256(der)) })
	unknown, _ := s.run(2, r.URL, nil)
	wrong, _ := s.run(3, r.URL, func(o *Options) { o.Fingerprint = strings.Repeat("ab", 32) })
	s.put("gate", vms.TypeMotion, 0, time.Second)
	eventually(t, func() bool { return r.count() == 2 })
	for _, h := range []*Hook{unknown, wrong} {
		eventually(t, func() bool { return strings.Contains(h.Status().Problem, "ca_file or tls_fingerprint") }, "%+v",
			h.Status())
	}
	require.Equal(t, 2, r.count())
}

package agent

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/health"
	"vmsbridge/storage/stills"
)

// Dozens of edits, each read as soon as it is written, and by several at once: bad ones between
// good ones, a camera that gets another name, one that goes as another comes, another data folder,
// another service. Whatever the order, the camera that no edit touches is not disturbed, what is
// true at the end is the last edit, and nothing is left behind.
func TestReloadUnderFire(t *testing.T) {
	before := goleak.IgnoreCurrent()
	plain, stop := newSite(t)
	gate, gateURL := tapped(t, plain.cfg.Cameras[0].URL)
	s := &editable{site: plain}
	text := func(data, service, cameras string) string {
		return "bridge: {id: b, account: acc, data: \"" + data +
			"\"}\napi: {listen: \"127.0.0.1:0\", tokens: [{name: lan, token: " + apiToken + "}]}\n" +
			"service: {url: \"" + service + "\", token: " + serviceToken1 +
			"}\nstills: {max_size: 64MiB, segment_size: 4MiB, preview_interval: 100ms}\ndecode: {isolation: " +
			"none}\nclock: {wait: 0s}\ncameras:\n" +
			"  - {id: gate, url: \"" + gateURL + "\", username: viewer, password: \"" + cameraPassword +
			"\", transport: tcp}\n" + cameras
	}
	camera := func(id string) string {
		return "  - {id: " + id + ", url: \"" + plain.cfg.Cameras[1].URL + "\", username: viewer, password: \"" +
			cameraPassword + "\"}\n"
	}
	data, service := plain.cfg.Bridge.Data, plain.cfg.Service.URL
	first := text(data, service, camera("yard"))
	s.write(first)
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	a, stopBridge := s.run(func(a *Agent) { a.opts.Load = s.load })
	newest := func() time.Time { at, _ := a.archive.Ring.Newest("gate", stills.Preview); return at }
	s.eventually("stills of the gate", func() bool { return !newest().IsZero() })
	began := newest()

	edits := []struct{ text, restart, problem string }{
		{text(data, service, camera("attic")), "", ""}, // the yard goes, the attic comes
		{strings.Replace(first, "cameras:", "cameras: [", 1), "", "not YAML"},
		{text(data, service, camera("cellar")+camera("attic")), "", ""},
		{text(data+"-elsewhere", service, camera("attic")), "bridge.data", ""},
		{text(data, "http://127.0.0.1:1", camera("attic")), "service.url", ""},
		{text(data, service, camera("gate")), "", "ids must differ"},
		{text(data, service, ""), "", ""},
	}
	var others sync.WaitGroup
	for i := range 50 {
		e := edits[i%len(edits)]
		s.write(e.text)
		if i%10 == 0 {
			others.Go(func() { _, _ = a.Reload(t.Context()) }) // may read this edit or the next
		}
		done := s.reload()
		if e.problem != "" {
			require.Contains(t, strings.Join(done.Problems, "\n"), e.problem)
			continue
		}
		require.Empty(t, done.Problems)
		require.Equal(t, strings.Fields(e.restart), append([]string{}, done.Restart...))
	}
	others.Wait()
	s.write(first)
	require.Empty(t, s.reload().Problems)
	r := s.status()
	require.False(t, r.Has(health.Configuration))
	require.False(t, r.Has(health.Restart))
	require.Len(t, a.cameras.Workers(), 2)
	s.eventually("both online", func() bool { return healthOf(a).Cameras == health.Count{Online: 2, Total: 2} })

	now := newest()
	s.eventually("stills of the gate go on", func() bool { return newest().After(now) })
	require.EqualValues(t, 1, gate.conns.Load(), "the session of the camera that no edit touched")
	frames, _, err := a.archive.Ring.Range("gate", stills.Preview, began, time.Now(), 10_000)
	require.NoError(t, err)
	for i := 1; i < len(frames); i++ {
		require.Less(t, frames[i].Time.Sub(frames[i-1].Time), 2*time.Second, "a gap in the gate's pictures")
	}
	for _, gone := range []string{"attic", "cellar"} {
		require.NotContains(t, metricsOf(t, a), `camera="`+gone+`"`)
	}
	require.NoDirExists(t, data+"-elsewhere")
	stopBridge()
	for _, ev := range s.left(nil) {
		require.NotNil(t, ev.EndTimestamp, ev.ID)
	}
	gate.stop()
	stop()
	require.NotContains(t, s.log.String(), cameraPassword)
	goleak.VerifyNone(t, before)
}

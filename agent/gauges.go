package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/link"
	"vmsbridge/agent/status"
)

// gauges shows in the metrics what the status page says. It asks for the status at each collection.
type gauges struct{ a *Agent }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vmsbridge_agent_"+name, help, labels, nil)
}

var (
	infoDesc     = desc("info", "1, with what this bridge is.", "version", "platform")
	problemDesc  = desc("problem", "1 while something of this kind is wrong; vmsbridge status says what.", "kind")
	onlineDesc   = desc("camera_online", "1 while pictures of the camera arrive and can be decoded.", "camera")
	stuckDesc    = desc("camera_stuck", "1 while the camera's pipeline stands still.", "camera")
	stillDesc    = desc("last_still_timestamp_seconds", "Time of the camera's newest still.", "camera", "kind")
	freeDesc     = desc("disk_free_bytes", "What is free on the file system of the data folder.")
	totalDesc    = desc("disk_size_bytes", "Size of the file system of the data folder.")
	signedInDesc = desc("signed_in", "0 while the service refuses the bridge's token or sign-in.")
	tunnelDesc   = desc("tunnel_up", "1 while the tunnel to the service stands.")
	reloadOKDesc = desc("config_last_reload_successful", "0 while the configuration file has problems and was not taken over.")
	reloadAtDesc = desc("config_loaded_timestamp_seconds", "When the running configuration was taken over.")
	reloadsDesc  = desc("config_reloads_total", "Readings of the configuration file while the bridge runs.", "result")
	restartDesc  = desc("config_restart_needed", "1 while a part of the configuration waits for a restart.")
	decoderDesc  = desc("decoder_available", "1 if this machine decodes the format.", "format")
)

// Describe is for prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{infoDesc, problemDesc, onlineDesc, stuckDesc, stillDesc, freeDesc, totalDesc, signedInDesc, tunnelDesc,
		reloadOKDesc, reloadAtDesc, reloadsDesc, restartDesc, decoderDesc} {
		ch <- d
	}
}

// Collect is for prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	r := g.a.Status()
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	set(infoDesc, 1, r.Version, r.Platform)
	for _, k := range status.Kinds {
		set(problemDesc, one(r.Has(k)), string(k))
	}
	for _, c := range r.Cameras {
		if c.State != status.Off {
			set(onlineDesc, one(c.Online), c.ID)
			set(stuckDesc, one(c.Stuck), c.ID)
		}
		for kind, at := range map[string]time.Time{"preview": c.Preview, "main": c.Main} {
			if !at.IsZero() {
				set(stillDesc, seconds(at), c.ID, kind)
			}
		}
	}
	if r.Disk.Total > 0 {
		set(freeDesc, float64(r.Disk.Free))
		set(totalDesc, float64(r.Disk.Total))
	}
	if r.Service != nil {
		set(signedInDesc, one(r.Service.SignedIn))
		set(tunnelDesc, one(r.Service.Tunnel == link.TunnelUp))
	}
	set(reloadOKDesc, one(r.Config.Failed.IsZero()))
	set(reloadAtDesc, seconds(r.Config.Loaded))
	set(restartDesc, one(len(r.Config.Restart) > 0))
	good, bad := g.a.edits.counts()
	ch <- prometheus.MustNewConstMetric(reloadsDesc, prometheus.CounterValue, float64(good), "good")
	ch <- prometheus.MustNewConstMetric(reloadsDesc, prometheus.CounterValue, float64(bad), "bad")
	if s := g.a.decoders.get(); s.looked && s.problem == "" {
		set(decoderDesc, one(s.H264.OK), "h264")
		set(decoderDesc, one(s.H265.OK), "h265")
		set(decoderDesc, one(s.JPEG.OK), "jpeg")
	}
}

func (e *edits) counts() (good, bad int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.good, e.bad
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

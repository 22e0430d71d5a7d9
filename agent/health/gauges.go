package health

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector shows a report in the metrics. It asks for one at each collection.
type Collector func() Report

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vmsbridge_agent_"+name, help, labels, nil)
}

var (
	infoDesc     = desc("info", "1, with what this bridge is.", "version", "platform")
	problemDesc  = desc("problem", "1 while something of this kind is wrong; vmsbridge status says what.", "kind")
	onlineDesc   = desc("camera_online", "1 while pictures of the camera arrive and can be decoded.", "camera")
	stuckDesc    = desc("camera_stuck", "1 while the camera's pipeline stands still.", "camera")
	armedDesc    = desc("camera_armed", "1 while motion before the camera makes events.", "camera")
	stillDesc    = desc("last_still_timestamp_seconds", "Time of the camera's newest still.", "camera", "kind")
	freeDesc     = desc("disk_free_bytes", "What is free on the file system of the data folder.")
	totalDesc    = desc("disk_size_bytes", "Size of the file system of the data folder.")
	signedInDesc = desc("signed_in", "0 while the service refuses the bridge's token or sign-in.")
	tunnelDesc   = desc("tunnel_up", "1 while the tunnel to the service stands.")
	reloadOKDesc = desc("config_last_reload_successful",
		"0 while the configuration file has problems and was not taken over.")
	reloadAtDesc = desc("config_loaded_timestamp_seconds", "When the running configuration was taken over.")
	reloadsDesc  = desc("config_reloads_total", "Readings of the configuration file while the bridge runs.", "result")
	restartDesc  = desc("config_restart_needed", "1 while a part of the configuration waits for a restart.")
	decoderDesc  = desc("decoder_available", "1 if this machine decodes the format.", "format")
)

// Describe is for prometheus.Collector.
func (c Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{infoDesc, problemDesc, onlineDesc, stuckDesc, armedDesc, stillDesc, freeDesc,
		totalDesc, signedInDesc, tunnelDesc,
		reloadOKDesc, reloadAtDesc, reloadsDesc, restartDesc, decoderDesc} {
		ch <- d
	}
}

// Collect is for prometheus.Collector.
func (c Collector) Collect(ch chan<- prometheus.Metric) {
	r := c()
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	set(infoDesc, 1, r.Version, r.Platform)
	for _, k := range Kinds {
		set(problemDesc, yes(r.Has(k)), string(k))
	}
	for _, cam := range r.Cameras {
		if cam.State != Off {
			set(onlineDesc, yes(cam.Online), cam.ID)
			set(stuckDesc, yes(cam.Stuck), cam.ID)
			set(armedDesc, yes(!cam.Disarmed), cam.ID)
		}
		for kind, at := range map[string]time.Time{"preview": cam.Preview, "main": cam.Main} {
			if !at.IsZero() {
				set(stillDesc, seconds(at), cam.ID, kind)
			}
		}
	}
	if r.Disk.Total > 0 {
		set(freeDesc, float64(r.Disk.Free))
		set(totalDesc, float64(r.Disk.Total))
	}
	if r.Service != nil {
		set(signedInDesc, yes(r.Service.SignedIn))
		set(tunnelDesc, yes(r.Service.TunnelUp))
	}
	set(reloadOKDesc, yes(r.Config.Failed.IsZero()))
	set(reloadAtDesc, seconds(r.Config.Loaded))
	set(restartDesc, yes(len(r.Config.Restart) > 0))
	ch <- prometheus.MustNewConstMetric(reloadsDesc, prometheus.CounterValue, float64(r.Config.Good), "good")
	ch <- prometheus.MustNewConstMetric(reloadsDesc, prometheus.CounterValue, float64(r.Config.Bad), "bad")
	if r.DecodersKnown {
		set(decoderDesc, yes(r.Decoders.H264.OK), "h264")
		set(decoderDesc, yes(r.Decoders.H265.OK), "h265")
		set(decoderDesc, yes(r.Decoders.JPEG.OK), "jpeg")
	}
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

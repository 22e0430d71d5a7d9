package configs

import (
	"cmp"
	"time"
)

// Default is what an empty file means.
func Default() *Config {
	return &Config{
		Bridge:  Bridge{ID: "bridge", Account: "local", Data: "/var/lib/vmsbridge"},
		Service: Service{ReportOngoing: true, Tunnel: true},
		API:     API{Listen: "127.0.0.1:8480"},
		Stills: Stills{
			MaxSize: 4 << 30, SegmentSize: 16 << 20, MinFree: 32 << 20,
			PreviewInterval: 10 * time.Second, MotionInterval: 500 * time.Millisecond, MainInterval: 2 * time.Second,
			PreviewWidth: 640, Quality: 80, FlushInterval: 2 * time.Second,
		},
		Journal: Journal{MaxAge: 720 * time.Hour, MaxEvents: 500_000, OutboxMaxSize: 1 << 30,
			OutboxMaxAge: 2160 * time.Hour},
		Clock:  Clock{Wait: 10 * time.Minute},
		Decode: Decode{Isolation: "process", Gate: true},
		MQTT:   defaultMQTT(),
		Lines:  Lines{Backlog: defaultBacklog()},
		Motion: Motion{Sensitivity: 0.5, Rate: 10, Tamper: true},
		Log:    Log{Level: "info", Format: "text"},
	}
}

// setDefaults is called by the decoder for each camera before its keys are read.
func (c *Camera) setDefaults() {
	c.Transport = "auto"
	c.Enabled = true
}

// fill completes what depends on other keys: names that default to ids, and what cameras and
// regions inherit. It runs after decoding and before the checks; given says whether a key stands in
// the file.
func (c *Config) fill(given func(path string) bool) {
	if c.Bridge.Name == "" {
		c.Bridge.Name = c.Bridge.ID
	}
	c.fillMQTT()
	for i := range c.Cameras {
		cam, at := &c.Cameras[i], item("cameras", i)
		if cam.Name == "" {
			cam.Name = cam.ID
		}
		if !given(at + ".arm.schedule") {
			cam.Arm.Schedule = c.Arm.Schedule
		}
		own := cam.Motion.Motion
		cam.Motion.Motion = c.Motion
		if given(at + ".motion.sensitivity") {
			cam.Motion.Sensitivity = own.Sensitivity
		}
		if given(at + ".motion.rate") {
			cam.Motion.Rate = own.Rate
		}
		if given(at + ".motion.quiet_period") {
			cam.Motion.QuietPeriod = own.QuietPeriod
		}
		if given(at + ".motion.min_duration") {
			cam.Motion.MinDuration = own.MinDuration
		}
		if given(at + ".motion.max_duration") {
			cam.Motion.MaxDuration = own.MaxDuration
		}
		if given(at + ".motion.tamper") {
			cam.Motion.Tamper = own.Tamper
		}
		for j := range cam.Motion.Lines {
			l := &cam.Motion.Lines[j]
			l.Name = cmp.Or(l.Name, l.ID)
		}
		for j := range cam.Motion.Areas {
			a := &cam.Motion.Areas[j]
			a.Name = cmp.Or(a.Name, a.ID)
		}
		for j := range cam.Motion.Regions {
			r := &cam.Motion.Regions[j]
			if r.Name == "" {
				r.Name = r.ID
			}
			if !given(item(at+".motion.regions", j) + ".sensitivity") {
				r.Sensitivity = cam.Motion.Sensitivity
			}
		}
	}
}

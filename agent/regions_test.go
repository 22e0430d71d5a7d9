package agent

import (
	"strings"
	"testing"

	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// Through the whole agent: the event of a region reaches the service with the region in its data.
func TestRegionsReachTheService(t *testing.T) {
	s, stop := newSite(t)
	defer stop()
	s.cfg.Cameras[0].Motion.Regions = []configs.Region{{ID: "door", Name: "Door",
		Area: configs.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}
	_, stopBridge := s.run(nil)
	defer stopBridge()
	s.eventually("a region's event at the service", func() bool {
		s.office.mu.Lock()
		defer s.office.mu.Unlock()
		for _, ev := range s.office.events {
			if ev.Type == vms.TypeMotionInRegion && !ev.Ongoing() {
				var r struct {
					ID, Name string
					Area     [][2]float64
				}
				for _, d := range ev.Data {
					if d.Type == vms.SchemaMotionRegion && d.Into(&r) != nil {
						return false
					}
				}
				return ev.ActorID == "gate" && r.ID == "door" && r.Name == "Door" && len(r.Area) == 4 &&
					strings.HasSuffix(ev.ID, vms.TypeMotionInRegion)
			}
		}
		return false
	})
}

package pipeline

import (
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
)

// rules is what a pipeline knows of its camera's lines and areas.
type rules struct {
	watch  *rule.Watch // nil: there are none
	things []motion.Thing
}

// RuleConfig is what the watch over lines and areas is told of a camera whose settings are m, and
// whether there is to be one.
func RuleConfig(m configs.CameraMotion) (rule.Config, bool) {
	var c rule.Config
	for _, l := range m.Lines {
		c.Lines = append(c.Lines, rule.Line{ID: l.ID, Name: l.Name, Points: l.Points,
			Direction: rule.Direction(l.Direction)})
	}
	for _, a := range m.Areas {
		c.Areas = append(c.Areas, rule.Area{ID: a.ID, Name: a.Name, Outline: motion.Polygon(a.Area),
			Intrusion: a.Intrusion, Loiter: a.Loiter})
	}
	return c, len(c.Lines)+len(c.Areas) > 0
}

package sight

import (
	"vmsbridge/configs"
	"vmsbridge/motion/tamper"
)

// Tamper is what the watch for tampering is told of a camera whose settings are m, and whether
// there is to be one.
func Tamper(m configs.CameraMotion) (tamper.Config, bool) { return tamper.Config{}, m.Tamper }

package pipeline

import (
	"vmsbridge/configs"
	"vmsbridge/motion/tamper"
)

// TamperConfig is what the watch for tampering is told of a camera whose settings are m, and
// whether there is to be one.
func TamperConfig(m configs.CameraMotion) (tamper.Config, bool) { return tamper.Config{}, m.Tamper }

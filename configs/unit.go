package configs

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed vmsbridge.service
var unitTemplate string

// Unit is the bridge's systemd unit for a program and a configuration, which are absolute paths,
// and a system user. An error: systemd would read one of them as something else.
func Unit(program, config, user string) (string, error) {
	for _, path := range []string{program, config} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsAny(path, " \t\n\"'\\;$%") {
			return "", fmt.Errorf("write systemd unit: %q is no absolute path without spaces, quotes, $ and %%: put "+
				"the file elsewhere", path)
		}
	}
	if user == "" || strings.ContainsAny(user, " \t\n\"'\\;$%{}") {
		return "", fmt.Errorf("write systemd unit: %q is no user's name", user)
	}
	return strings.NewReplacer("{{Description}}", UnitDescription, "{{Path}}", program, "{{Config}}", config,
		"{{User}}", user).Replace(unitTemplate), nil
}

// UnitDescription is what service managers show for the bridge.
const UnitDescription = "vmsbridge, motion events and stills of RTSP cameras"

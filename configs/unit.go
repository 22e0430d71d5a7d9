package configs

import _ "embed"

// SystemdUnit is the bridge's systemd unit as a template of github.com/kardianos/service: {{Path}}, {{Arguments}},
// {{UserName}} and {{Description}} are filled in when it is installed.
//
//go:embed vmsbridge.service
var SystemdUnit string

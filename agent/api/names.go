package api

import (
	"os"
	"slices"
	"strings"
)

// lanNames are what networks append to the name of a machine.
var lanNames = []string{"", ".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain", ".fritz.box"}

// ownName reports whether a name is this machine's, so that a client that used it may be told so.
func ownName(name string) bool {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return false
	}
	host = strings.ToLower(host)
	short, _, _ := strings.Cut(host, ".")
	return name == host || slices.ContainsFunc(lanNames, func(end string) bool { return name == short+end })
}

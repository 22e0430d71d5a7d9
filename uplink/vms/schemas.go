package vms

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"
)

// schemaPattern is the form of a data schema id; a name may have several parts
// (vms.displayOverlay.boundingBox.v1).
var schemaPattern = regexp.MustCompile(`^vms\.\w+(\.\w+)*\.v\d+$`)

// connectionStatuses are the values that a connectionStatus may have.
var connectionStatuses = map[string]bool{
	StatusOnline: true, StatusDeviceOffline: true, StatusBridgeOffline: true, StatusInvalidCredentials: true,
	StatusError: true, StatusOff: true, StatusUnknown: true,
}

// Statuses lists the Status constants.
func Statuses() []string { return slices.Sorted(maps.Keys(connectionStatuses)) }

// ValidStatus says whether s is one of the Status constants.
func ValidStatus(s string) bool { return connectionStatuses[s] }

// Limits of user data, as the interface sets them.
const (
	maxUserKeys  = 5
	maxUserChars = 256
)

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func checkUserData(where string, fields map[string]json.RawMessage) []Problem {
	var out []Problem
	keys := 0
	for name, raw := range fields {
		if name == "type" || name == "creatorId" {
			continue
		}
		keys++
		if !camelCase.MatchString(name) || utf8.RuneCountInString(name) > maxUserChars {
			out = append(out, wrong(where, fmt.Sprintf("key %.40q must be camelCase and at most %d characters long",
				name, maxUserChars)))
			continue
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			value = s
		}
		if utf8.RuneCountInString(value) > maxUserChars {
			out = append(out, wrong(where+"."+name, fmt.Sprintf("must be at most %d characters long", maxUserChars)))
		}
	}
	if keys > maxUserKeys {
		out = append(out, wrong(where, fmt.Sprintf("has %d keys, at most %d are allowed", keys, maxUserKeys)))
	}
	return out
}

package vms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Registration is what a bridge tells the self-hosted service about itself: where its stills can be
// asked for, the token to ask with, and all of its cameras. It is not part of the public interface.
// A registration replaces the former one of the same bridge.
type Registration struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Address is the base address of the bridge's local API, "" if the service cannot reach it.
	Address string `json:"address,omitempty"`
	// ImageToken is a bearer token of the bridge's local API. A secret: it is stored by the service
	// and never shown.
	ImageToken string             `json:"imageToken,omitempty"`
	Cameras    []RegisteredCamera `json:"cameras"`
}

// RegisteredCamera is one camera of a Registration. ConnectionStatus is one of the Status
// constants, or "" if the service is to go by the status events.
type RegisteredCamera struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	ConnectionStatus string `json:"connectionStatus,omitempty"`
}

const (
	maxCameras   = 10_000
	maxNameChars = 256
)

// ParseRegistration reads the body of a registration and lists everything wrong with it.
func ParseRegistration(body []byte) (Registration, []Problem) {
	var r Registration
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return r, []Problem{{"body", ReasonJSON, jsonTrouble(err)}}
	}
	var out []Problem
	if text := checkID(r.ID); text != "" {
		out = append(out, wrong("id", text))
	}
	if len(r.Name) > maxNameChars {
		out = append(out, wrong("name", "is too long"))
	}
	if text := checkAddress(r.Address); text != "" {
		out = append(out, wrong("address", text))
	}
	if strings.ContainsFunc(r.ImageToken, func(c rune) bool { return c <= ' ' || c > '~' }) ||
		len(r.ImageToken) > 4096 {
		out = append(out, wrong("imageToken", "must be printable ASCII without spaces")) // the value stays unsaid
	}
	if len(r.Cameras) > maxCameras {
		return r, append(out, wrong("cameras", fmt.Sprintf("are more than %d", maxCameras)))
	}
	seen := make(map[string]struct{}, len(r.Cameras))
	for i, c := range r.Cameras {
		bad := func(field, text string) { out = append(out, wrong(fmt.Sprintf("cameras[%d].%s", i, field), text)) }
		if text := checkID(c.ID); text != "" {
			bad("id", text)
		} else if _, twice := seen[c.ID]; twice {
			bad("id", fmt.Sprintf("%q is listed twice", c.ID))
		}
		seen[c.ID] = struct{}{}
		if len(c.Name) > maxNameChars {
			bad("name", "is too long")
		}
		if c.ConnectionStatus != "" && !ValidStatus(c.ConnectionStatus) {
			bad("connectionStatus", "is none of the known statuses")
		}
	}
	return r, slices.Clip(out)
}

// checkAddress lets through only what the service may call: the plain base address of an HTTP
// server.
func checkAddress(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		return "must look like http://host:port"
	case u.User != nil:
		return "must not hold a user name or password"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must not hold a query or fragment"
	}
	return ""
}

package vms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Camera is one record of the camera list. What is behind CreateTimestamp is there only if it was
// asked for.
type Camera struct {
	ID              string            `json:"id"`
	AccountID       string            `json:"accountId"`
	Name            string            `json:"name"`
	BridgeID        string            `json:"bridgeId"`
	CreateTimestamp Time              `json:"createTimestamp"`
	Status          *ConnectionStatus `json:"status,omitempty"`
	Described
	ShareDetails     *ShareDetails       `json:"shareDetails,omitempty"`
	Capabilities     *CameraCapabilities `json:"capabilities,omitempty"`
	VisibleByBridges []string            `json:"visibleByBridges,omitzero"`
}

// Bridge is one record of the list of bridges, as Camera.
type Bridge struct {
	ID              string            `json:"id"`
	AccountID       string            `json:"accountId"`
	Name            string            `json:"name"`
	CreateTimestamp Time              `json:"createTimestamp"`
	Status          *ConnectionStatus `json:"status,omitempty"`
	Described
	NetworkInfo          *NetworkInfo  `json:"networkInfo,omitempty"`
	ResourceCounts       *DeviceCounts `json:"resourceCounts,omitempty"`
	ResourceStatusCounts *StatusCounts `json:"resourceStatusCounts,omitempty"`
}

// Described is what cameras and bridges may have in common in an answer.
type Described struct {
	TimeZone             *Zone              `json:"timeZone,omitempty"`
	Notes                *string            `json:"notes,omitempty"`
	Tags                 []string           `json:"tags,omitzero"`
	DeviceInfo           *DeviceInfo        `json:"deviceInfo,omitempty"`
	EffectivePermissions *DevicePermissions `json:"effectivePermissions,omitempty"`
}

// Zone is a time zone of a device or an account.
type Zone struct {
	Zone string `json:"zone"`
}

// DeviceInfo says what a device is. What nobody knows is null.
type DeviceInfo struct {
	Icon          string  `json:"icon"`
	DirectToCloud bool    `json:"directToCloud"`
	Make          *string `json:"make"`
	Model         *string `json:"model"`
	SerialNumber  string  `json:"serialNumber,omitempty"` // of a bridge
	GUID          string  `json:"guid"`
}

// DevicePermissions are what the caller may do with a device.
type DevicePermissions struct {
	Read                  bool `json:"read"`
	ViewPreviewVideo      bool `json:"viewPreviewVideo"`
	ViewLiveVideo         bool `json:"viewLiveVideo"`
	ViewHistoricVideo     bool `json:"viewHistoricVideo"`
	DownloadVideo         bool `json:"downloadVideo"`
	EditNoBillingSettings bool `json:"editNoBillingSettings"`
	EditBillingSettings   bool `json:"editBillingSettings"`
	Delete                bool `json:"delete"`
}

// ShareDetails says whose a camera is.
type ShareDetails struct {
	Shared         bool   `json:"shared"`
	FirstResponder bool   `json:"firstResponder"`
	AccountID      string `json:"accountId"`
}

// CameraCapabilities says what a camera can be told to do here, which is nothing.
type CameraCapabilities struct {
	PTZ struct {
		Capable bool `json:"capable"`
	} `json:"ptz"`
	Audio struct {
		RecordingEnabled bool `json:"recordingEnabled"`
		Speaker          bool `json:"speaker"`
	} `json:"audio"`
	ImageTuning struct {
		ContinuousZoom bool `json:"continuousZoom"`
	} `json:"imageTuning"`
	IO struct {
		Capable bool `json:"capable"`
	} `json:"io"`
	Varifocal bool `json:"varifocal"`
}

// NetworkInfo is where a bridge is.
type NetworkInfo struct {
	IPAddress *string `json:"ipAddress"`
}

// DeviceCounts count what belongs to a bridge.
type DeviceCounts struct {
	Cameras int `json:"cameras"`
}

// StatusCounts count the cameras by status.
type StatusCounts struct {
	Cameras map[string]int `json:"cameras"`
}

// Settings is the answer of cameras/{id}/settings.
type Settings struct {
	Data SettingsData `json:"data"`
}

// SettingsData is what is known of how a camera is set. What the server does not know is left away.
type SettingsData struct {
	TimeZone     string         `json:"timeZone,omitempty"`
	PreviewVideo *VideoSettings `json:"previewVideo,omitempty"`
	MainVideo    *VideoSettings `json:"mainVideo,omitempty"`
	Operating    struct {
		On bool `json:"on"`
	} `json:"operatingSettings"`
}

// VideoSettings say how often a still of a kind is kept.
type VideoSettings struct {
	TransmitMode string `json:"transmitMode"`
	IntervalMs   int64  `json:"intervalMs,omitempty"`
}

// Limits of what people say of a camera. Those of name and notes are the public interface's.
const (
	maxCalled   = 126
	maxNotes    = 5000
	maxTags     = 100
	maxTagChars = 126
)

// CameraChange is the body of PATCH /cameras/{id}: what is nil stays as it is.
type CameraChange struct {
	// Name takes the place of the one in the bridge's configuration; "" gives that back.
	Name  *string
	Notes *string
	Tags  *[]string
}

// ParseCameraChange reads the body of a change of the camera with an id, which the body may say
// too, and lists everything wrong with it. null takes back what was said.
func ParseCameraChange(id string, body []byte) (CameraChange, []Problem) {
	var c CameraChange
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return c, []Problem{{"body", ReasonJSON, jsonTrouble(err)}}
	}
	var out []Problem
	for name, raw := range fields {
		null := bytes.Equal(raw, []byte("null"))
		var text string
		var err error
		switch name {
		case "id":
			if err = json.Unmarshal(raw, &text); err == nil && text != id {
				out = append(out, wrong(name, "must be that of the address, "+id))
			}
		case "name", "notes":
			if err = json.Unmarshal(raw, &text); err == nil {
				out = append(out, checkWords(name, text, null)...)
			}
			if name == "name" {
				c.Name = &text
			} else {
				c.Notes = &text
			}
		case "tags":
			list := []string{}
			if err = json.Unmarshal(raw, &list); err == nil {
				out = append(out, checkTags(list)...)
			}
			list = slices.Compact(slices.Sorted(slices.Values(list)))
			c.Tags = &list
		default:
			out = append(out, Problem{name, ReasonUnexpected, "cannot be changed"})
		}
		if err != nil {
			out = append(out, wrong(name, jsonTrouble(err)))
		}
	}
	if delete(fields, "id"); len(fields) == 0 {
		out = append(out, Problem{"name, notes or tags", ReasonMissing, "is required"})
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Argument, b.Argument) })
	return c, out
}

func checkWords(name, text string, null bool) []Problem {
	most := maxNotes
	if name == "name" {
		most = maxCalled
		if strings.TrimSpace(text) == "" && !null {
			return []Problem{wrong(name, "must not be empty; null gives back the name of the bridge's configuration")}
		}
		if strings.ContainsFunc(text, unicode.IsControl) {
			return []Problem{wrong(name, "must be one line of text")}
		}
	}
	if utf8.RuneCountInString(text) > most {
		return []Problem{wrong(name, fmt.Sprintf("must be at most %d characters long", most))}
	}
	return nil
}

func checkTags(list []string) []Problem {
	if len(list) > maxTags {
		return []Problem{wrong("tags", fmt.Sprintf("are more than %d", maxTags))}
	}
	for _, t := range list {
		if strings.TrimSpace(t) == "" || strings.ContainsAny(t, ",") || strings.ContainsFunc(t, unicode.IsControl) ||
			utf8.RuneCountInString(t) > maxTagChars {
			return []Problem{wrong("tags", fmt.Sprintf("must each be 1 to %d characters without a comma", maxTagChars))}
		}
	}
	return nil
}

// Description is what people said of a camera.
type Description struct {
	Name  string   `json:"name,omitempty"` // "" if it has the name of its bridge's configuration
	Notes string   `json:"notes,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// With is the description after a change. The one given is not changed.
func (d Description) With(c CameraChange) Description {
	if c.Name != nil {
		d.Name = *c.Name
	}
	if c.Notes != nil {
		d.Notes = *c.Notes
	}
	if c.Tags != nil {
		d.Tags = *c.Tags
	}
	return d
}

// Put shows the description on a camera.
func (d Description) Put(c *Camera) {
	if d.Name != "" {
		c.Name = d.Name
	}
	c.Notes = &d.Notes
	c.Tags = slices.Clone(d.Tags)
	if c.Tags == nil {
		c.Tags = []string{}
	}
}

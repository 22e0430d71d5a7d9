package client

import (
	"bytes"
	"encoding/json"

	"vmsbridge/uplink/vms"
)

// verdict reads an error body: any JSON object is a service's, whatever its fields are. Clients of
// the public service read "message", and "error" without one; services of other makes put their
// words elsewhere (RFC 9457, RFC 6749, lists of errors).
func verdict(body []byte) (message, reason string, ok bool) {
	var e map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) || json.Unmarshal(body, &e) != nil {
		return "", "", false
	}
	var details []vms.Detail
	if json.Unmarshal(e["details"], &details) == nil && len(details) > 0 {
		reason = details[0].Reason
	}
	if message = words(e, 3); message == "" {
		message = "no reason given"
	}
	return clip(message), reason, true
}

// saying are the fields in which services say what is wrong, the one that says most first.
var saying = []string{"message", "error_description", "detail", "error", "errors", "title", "msg", "reason",
	"description", "details"}

// words are what an object says is wrong, looking so deep into it; "" for nothing.
func words(e map[string]json.RawMessage, depth int) string {
	for _, name := range saying {
		if text := wordsOf(e[name], depth-1); text != "" {
			return text
		}
	}
	return ""
}

// wordsOf are a text, those of an object, or the first in a list.
func wordsOf(raw json.RawMessage, depth int) string {
	if depth < 0 || len(raw) == 0 {
		return ""
	}
	var text string
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &object) == nil:
		return words(object, depth)
	case json.Unmarshal(raw, &list) == nil && len(list) > 0:
		return wordsOf(list[0], depth-1)
	}
	return ""
}

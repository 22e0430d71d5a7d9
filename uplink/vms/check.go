package vms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing wrong with an event or a request: where, which kind (one of the Reason
// constants), and what in words for a person.
type Problem struct {
	Argument, Reason, Text string
}

func (p Problem) String() string { return p.Argument + ": " + p.Text }

func wrong(argument, text string) Problem { return Problem{argument, ReasonValue, text} }

// ActorTypes are the kinds of actors that an event may have.
var ActorTypes = []string{ActorBridge, ActorCamera, "speaker", "account", "user", "layout", "job", "measurement",
	"sensor", "gateway"}

// maxIDChars bounds every id; longer ones come from programs gone wrong.
const maxIDChars = 256

// Check lists everything that is wrong with an event under the rules of the interface for the
// envelope and for user data, in a fixed order; nil if it can be reported. ID is not looked at: the
// service makes it.
func Check(ev Event) []Problem {
	var out []Problem
	add := func(argument, format string, args ...any) {
		out = append(out, wrong(argument, fmt.Sprintf(format, args...)))
	}
	typ, known := TypeByID(ev.Type)
	if !known {
		add("type", "%.80q is not a type of the catalogue, see /api/v3.0/eventTypes", ev.Type)
	}
	if ev.StartTimestamp.IsZero() {
		add("startTimestamp", "is not set")
	}
	switch {
	case ev.EndTimestamp == nil && !ev.Span:
		add("endTimestamp", "must equal startTimestamp, because span is false")
	case ev.EndTimestamp == nil: // ongoing
	case !ev.Span && !ev.EndTimestamp.Equal(ev.StartTimestamp.Time):
		add("endTimestamp", "must equal startTimestamp, because span is false")
	case ev.EndTimestamp.Before(ev.StartTimestamp.Time):
		add("endTimestamp", "is before startTimestamp")
	}
	for _, id := range []struct{ name, value string }{{"accountId", ev.AccountID}, {"actorId", ev.ActorID},
		{"actorAccountId", ev.ActorAccountID}, {"creatorId", ev.CreatorID}} {
		if text := checkID(id.value); text != "" {
			add(id.name, "%s", text)
		}
	}
	if !slices.Contains(ActorTypes, ev.ActorType) {
		add("actorType", "must be one of %s", strings.Join(ActorTypes, ", "))
	}
	if len(ev.DataSchemas) == 0 && (!known || len(typ.Schemas) > 0) {
		add("dataSchemas", "must name at least one data schema: %s would do for any type", SchemaCreatorDetails)
	}
	for i, s := range ev.DataSchemas {
		where := fmt.Sprintf("dataSchemas[%d]", i)
		switch {
		case !schemaPattern.MatchString(s) || len(s) > maxIDChars:
			add(where, "%.80q does not have the form vms.name.v1", s)
		case known && !typ.allows(s):
			add(where, "%s cannot be attached to %s", s, typ.Type)
		}
	}
	for i, d := range ev.Data {
		where := fmt.Sprintf("data[%d]", i)
		if !slices.Contains(ev.DataSchemas, d.Type) {
			add(where+".type", "%.80q is not listed in dataSchemas", d.Type)
			continue
		}
		out = append(out, checkItem(where, d)...)
	}
	return out
}

// ValidID says whether s can be the id of a camera, a bridge or an account: event ids, and so
// addresses, are built of it.
func ValidID(s string) bool { return checkID(s) == "" }

// checkID says why s cannot be an id, "" if it can. Event ids go into paths and lists, so what
// those give a meaning to is refused.
func checkID(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case len(s) > maxIDChars:
		return fmt.Sprintf("must be at most %d bytes long", maxIDChars)
	case s == "." || s == "..":
		return "must not be a dot or two"
	}
	for _, r := range s {
		if strings.ContainsRune("/?#%,\\", r) || unicode.IsSpace(r) || unicode.IsControl(r) ||
			r == unicode.ReplacementChar {
			return fmt.Sprintf("must not contain %q", r)
		}
	}
	return ""
}

// property is one of the eleven of rule 1. nullable is true for endTimestamp alone: null says that
// the span goes on.
type property struct {
	name     string
	nullable bool
	field    func(*Event) any
}

var properties = []property{
	{"startTimestamp", false, func(e *Event) any { return &e.StartTimestamp }},
	{"endTimestamp", true, func(e *Event) any { return &e.EndTimestamp }},
	{"span", false, func(e *Event) any { return &e.Span }},
	{"accountId", false, func(e *Event) any { return &e.AccountID }},
	{"actorId", false, func(e *Event) any { return &e.ActorID }},
	{"actorAccountId", false, func(e *Event) any { return &e.ActorAccountID }},
	{"actorType", false, func(e *Event) any { return &e.ActorType }},
	{"creatorId", false, func(e *Event) any { return &e.CreatorID }},
	{"type", false, func(e *Event) any { return &e.Type }},
	{"dataSchemas", false, func(e *Event) any { return &e.DataSchemas }},
	{"data", false, func(e *Event) any { return &e.Data }},
}

// ParseEvent reads the body of a report and lists everything wrong with it: properties missing,
// null, misspelt (Go's own decoder would take "Type" for "type") or of another type, and what Check
// finds in the rest. An "id" is allowed, and dropped unless it is one that the service may have
// made for the event. Types and schemas in the public spelling are turned into the documents'.
func ParseEvent(body []byte) (Event, []Problem) {
	var fields map[string]json.RawMessage
	if !utf8.Valid(body) {
		return Event{}, []Problem{{"body", ReasonJSON, "the body is not UTF-8"}}
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return Event{}, []Problem{{"body", ReasonJSON, jsonTrouble(err)}}
	}
	if fields == nil {
		return Event{}, []Problem{{"body", ReasonJSON, "the body must be an event object"}}
	}
	var ev Event
	var unexpected, missing, rest []Problem
	bad := map[string]bool{}
	for _, p := range properties {
		raw, ok := fields[p.name]
		delete(fields, p.name)
		switch {
		case !ok:
			missing = append(missing, Problem{p.name, ReasonMissing, "is required"})
		case string(raw) == "null" && p.nullable:
			continue
		case string(raw) == "null":
			rest = append(rest, wrong(p.name, "must not be null"))
		default:
			if err := json.Unmarshal(raw, p.field(&ev)); err != nil {
				rest = append(rest, wrong(p.name, jsonTrouble(err)))
				break
			}
			continue
		}
		bad[p.name] = true
	}
	var id string
	_ = json.Unmarshal(fields["id"], &id) // what is no text is no id
	delete(fields, "id")
	for name := range fields {
		unexpected = append(unexpected, Problem{name, ReasonUnexpected, "is not a property of an event"})
	}
	slices.SortFunc(unexpected, func(a, b Problem) int { return strings.Compare(a.Argument, b.Argument) })
	canonicalise(&ev)
	if ev.FitsID(id) {
		ev.ID = id
	}
	for _, p := range Check(ev) {
		root, _, _ := strings.Cut(strings.ReplaceAll(p.Argument, ".", "["), "[")
		if bad[root] || (root == "endTimestamp" && (bad["startTimestamp"] || bad["span"])) ||
			(root == "data" && bad["dataSchemas"]) {
			continue // said already, or only a consequence
		}
		if p.Reason == ReasonMissing {
			missing = append(missing, p)
		} else {
			rest = append(rest, p)
		}
	}
	return ev, slices.Concat(unexpected, missing, rest)
}

func canonicalise(ev *Event) {
	ev.Type, ev.CreatorID = Canonical(ev.Type), Canonical(ev.CreatorID)
	for i := range ev.DataSchemas {
		ev.DataSchemas[i] = Canonical(ev.DataSchemas[i])
	}
	for i := range ev.Data {
		ev.Data[i] = ev.Data[i].canonical()
	}
	if ev.Data == nil {
		ev.Data = []Data{}
	}
}

// canonical rewrites the item only if it was spelt otherwise; else it stays byte for byte as it
// came.
func (d Data) canonical() Data {
	if Canonical(d.Type) == d.Type && Canonical(d.CreatorID) == d.CreatorID {
		return d
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.raw, &fields) != nil {
		return d
	}
	fields["type"], _ = json.Marshal(Canonical(d.Type))
	if _, ok := fields["creatorId"]; ok {
		fields["creatorId"], _ = json.Marshal(Canonical(d.CreatorID))
	}
	out, err := MakeData(fields)
	if err != nil {
		return d
	}
	return out
}

// jsonTrouble says what is wrong without Go's own names in it.
func jsonTrouble(err error) string {
	switch e := err.(type) {
	case *json.SyntaxError:
		return fmt.Sprintf("%s at byte %d", e.Error(), e.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("must not be a JSON %s", e.Value)
	}
	return err.Error()
}

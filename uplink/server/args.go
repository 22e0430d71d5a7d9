package server

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// args are the query parameters of a request and what is wrong with them. All problems are
// collected, then reported at once by err.
type args struct {
	values     url.Values
	known      []string
	malformed  *vms.Problem // the query as a whole; then nothing else is of interest
	unexpected []vms.Problem
	missing    []vms.Problem
	wrong      []vms.Problem
}

// parseArgs reads a raw query in which only the known names are expected.
func parseArgs(raw string, known ...string) *args {
	values, err := url.ParseQuery(raw)
	a := &args{values: values, known: known}
	if err != nil {
		a.malformed = &vms.Problem{Argument: "query", Reason: vms.ReasonValue, Text: "is not well-formed: " +
			err.Error()}
	}
	for name := range values {
		if !slices.Contains(known, name) {
			a.unexpected = append(a.unexpected,
				vms.Problem{Argument: name, Reason: vms.ReasonUnexpected, Text: "is not known here"})
		}
	}
	slices.SortFunc(a.unexpected, func(p, q vms.Problem) int { return strings.Compare(p.Argument, q.Argument) })
	return a
}

// err is the 400 of all problems, nil without any.
func (a *args) err() error {
	if a.malformed != nil {
		return vms.BadRequest([]vms.Problem{*a.malformed})
	}
	e := vms.BadRequest(slices.Concat(a.unexpected, a.missing, a.wrong))
	switch {
	case e == nil:
		return nil
	case len(a.unexpected) > 0 && len(a.known) == 0:
		e.Message += " (no argument is known here)"
	case len(a.unexpected) > 0:
		e.Message += " (known here: " + strings.Join(slices.Sorted(slices.Values(a.known)), ", ") + ")"
	}
	return e
}

func (a *args) bad(name, text string) {
	a.wrong = append(a.wrong, vms.Problem{Argument: name, Reason: vms.ReasonValue, Text: text})
}

func (a *args) miss(name string) {
	a.missing = append(a.missing, vms.Problem{Argument: name, Reason: vms.ReasonMissing, Text: "is required"})
}

// has says whether the argument has a value; an empty one counts as absent.
func (a *args) has(name string) bool {
	return slices.ContainsFunc(a.values[name], func(v string) bool { return v != "" })
}

// one is the argument's single value, "" if absent. Two different values are a problem.
func (a *args) one(name string) string {
	list := slices.Compact(slices.Clone(a.values[name]))
	if len(list) > 1 {
		a.bad(name, "is given more than once")
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// need is one, and missing if absent.
func (a *args) need(name string) string {
	v := a.one(name)
	if v == "" {
		a.miss(name)
	}
	return v
}

// list is the argument as a list: comma-joined, repeated, or both. Double and empty values are
// dropped.
func (a *args) list(name string) []string {
	var out []string
	for _, joined := range a.values[name] {
		for v := range strings.SplitSeq(joined, ",") {
			if v = strings.TrimSpace(v); v != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// lowerBound and upperBound are an argument as a time of the wire, nil if absent. A bound finer
// than the millisecond is moved to the first or last one inside it.
func (a *args) lowerBound(name string) *vms.Time {
	t, ok := a.instant(name)
	if !ok {
		return nil
	}
	return vms.Ptr(t.Add(time.Millisecond - 1))
}

func (a *args) upperBound(name string) *vms.Time {
	t, ok := a.instant(name)
	if !ok {
		return nil
	}
	return vms.Ptr(t)
}

// instant is an argument as an exact time.
func (a *args) instant(name string) (time.Time, bool) {
	v := a.one(name)
	if v == "" {
		return time.Time{}, false
	}
	t, err := vms.ParseInstant(v)
	if err != nil {
		a.bad(name, err.Error())
		return time.Time{}, false
	}
	return t, true
}

// Page sizes of every list. A size outside is brought inside, never refused.
const (
	minPageSize     = 1
	defaultPageSize = 100
	maxPageSize     = 500
)

// pageSize is the argument of that name, or fallback if absent.
func (a *args) pageSize(fallback int) int {
	v := a.one("pageSize")
	if v == "" {
		return fallback
	}
	n, err := strconv.Atoi(v)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		a.bad("pageSize", fmt.Sprintf("%.40q is not a whole number", v))
		return fallback
	}
	return min(max(n, minPageSize), maxPageSize)
}

// maxActors bounds a request's list of actors.
const maxActors = 500

// actors are those of "actor" and "actor__in", which may be mixed.
func (a *args) actors() []vms.Actor {
	var out []vms.Actor
	for _, name := range []string{"actor", "actor__in"} {
		for _, v := range a.list(name) {
			typ, id, ok := strings.Cut(v, ":")
			if !ok || !slices.Contains(vms.ActorTypes, typ) || !vms.ValidID(id) {
				a.bad(name, fmt.Sprintf("%.80q does not have the form camera:100d4c41", v))
				continue
			}
			if actor := (vms.Actor{Type: typ, ID: id}); !slices.Contains(out, actor) {
				out = append(out, actor)
			}
		}
	}
	if len(out) > maxActors {
		a.bad("actor__in", fmt.Sprintf("names %d actors, at most %d are allowed", len(out), maxActors))
	}
	return out
}

// canonicalList is a list of types or schemas in the interfaces' spelling.
func (a *args) canonicalList(name string) []string {
	list := a.list(name)
	for i := range list {
		list[i] = vms.Canonical(list[i])
	}
	return list
}

// include is the list of data schemas wanted, with or without the prefix "data.". A value that
// names no schema asks for nothing.
func (a *args) include() []string {
	list := a.list("include")
	for i := range list {
		list[i] = vms.Canonical(strings.TrimPrefix(list[i], "data."))
	}
	return list
}

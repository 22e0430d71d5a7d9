package server

import (
	"strconv"
	"strings"

	"vmsbridge/uplink/vms"
)

// listEventTypes is GET /eventTypes, in the language that the argument or else the header asks for:
// Japanese, or English for whatever there is not.
func (s *Server) listEventTypes(c *call) error {
	a := c.args
	types, lang := vms.TypesIn(language(a.one("language"), c.r.Header.Get("Accept-Language")))
	page, _, err := pageOf(s, c, a, "eventTypes", types)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Language", lang)
	c.w.Header().Add("Vary", "Accept-Language")
	return c.ok(page)
}

// language is the primary tag of a language asked for, or of the one that a header likes best.
func language(asked, header string) string {
	if asked == "" {
		best := 0.0
		for part := range strings.SplitSeq(header, ",") {
			tag, rest, _ := strings.Cut(part, ";")
			q := 1.0
			if text, ok := strings.CutPrefix(strings.ReplaceAll(rest, " ", ""), "q="); ok {
				q, _ = strconv.ParseFloat(text, 64) // 0 for what is none
			}
			if q > best {
				asked, best = strings.TrimSpace(tag), q
			}
		}
	}
	primary, _, _ := strings.Cut(asked, "-")
	return strings.ToLower(primary)
}

// listFieldValues is GET /events:listFieldValues: every type that an event of the actor may have,
// as a list that can be used in type__in.
func (s *Server) listFieldValues(c *call) error {
	a := c.args
	actors := a.actors()
	if !a.has("actor") && !a.has("actor__in") {
		a.miss("actor")
	}
	if err := a.err(); err != nil {
		return err
	}
	for _, actor := range actors {
		if err := s.checkActor(c.r.Context(), c, actor); err != nil {
			return err
		}
	}
	return c.ok(vms.FieldValues{Type: vms.TypeIDs()})
}

package server

import "vmsbridge/uplink/vms"

// listEventTypes is GET /eventTypes. Any language is taken, and answered in English, as the public service does.
func (s *Server) listEventTypes(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "language", "pageSize", "pageToken")
	page, _, err := pageOf(s, c, a, "eventTypes", vms.Types())
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Language", "en")
	return c.ok(page)
}

// listFieldValues is GET /events:listFieldValues: every type that an event of the actor may have, as a list that can be
// used in type__in.
func (s *Server) listFieldValues(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "actor", "actor__in")
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

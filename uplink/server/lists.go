package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// emptyLists are the kinds of things that the interface lists and nobody has here, with the
// arguments that it has for them. The arguments are checked, and find nothing.
var emptyLists = map[string][]string{
	"alerts": {"language", "creatorId", "timestamp__lte", "timestamp__gte", "alertType__in", "actorId__in", "actorType",
		"actorType__in", "actorAccountId", "ruleId", "ruleId__in", "eventId", "locationId__in", "priority__gte",
		"priority__lte", "showInvalidAlerts", "alertActionId__in", "alertActionStatus__in", "sort"},
	"alertActions": {"enabled", "id__in", "type__in"},
	"alertActionRules": {"enabled", "id__in", "alertType__in", "actorId__in", "alertActionId__in",
		"ruleId__in"},
	"alertConditionRules": slices.Concat(eventRuleArgs, []string{"id__in", "actorId__in", "inputEventType__in",
		"outputAlertType", "type"}),
	"alertTypes":       {"language"},
	"applications":     {},
	"availableDevices": {"deviceType__in", "state__in", "bridgeId__in"},
	"deletedFiles": {"mimeType", "mimeType__contains", "createTimestamp__lte", "createTimestamp__gte", "name",
		"name__contains", "sort"},
	"downloads":                slices.Concat(fileArgs, []string{"expireTimestamp__lte", "expireTimestamp__gte"}),
	"eventAlertConditionRules": slices.Concat(eventRuleArgs, []string{"id__in", "outputAlertType__in"}),
	"files":                    fileArgs,
	"jobs": {"userId", "type", "type__in", "state", "state__in", "namespace", "createTimestamp__gte",
		"createTimestamp__lte", "updateTimestamp__gte", "updateTimestamp__lte", "expireTimestamp__gte",
		"expireTimestamp__lte", "sort"},
	"layouts": {"name", "name__in", "name__contains", "id__in", "layoutPanes.cameras.bridgeId", "q",
		"qRelevance__gte", "sort"},
	"locations": {"parentId", "parentId__ne", "parentId__in", "name", "name__ne", "name__in",
		"name__contains", "q", "qRelevance__gte", "sort"},
	"multiCameras": {"locationId__in", "bridgeId__in", "q", "qRelevance__gte", "status__in", "status__ne", "sort"},
	"notifications": {"language", "timestamp__lte", "timestamp__gte", "alertId", "alertType", "actorId", "actorType",
		"actorAccountId", "category", "userId", "read", "status", "includeV1Notifications", "sort"},
	"roles":           {"roleName__contains"},
	"roleAssignments": {"userId__in", "roleId__in", "roleId__contains", "roleName__contains", "self"},
	"speakers":        slices.Concat(deviceArgs, []string{"bridgeId__in"}),
	"switches":        {"id__in", "id__contains", "name__contains"},
}

var (
	eventRuleArgs = []string{"actor", "name__contains", "enabled", "eventFilter.eventTypes__contains",
		"eventFilter.eventTypes__in", "priority__gte", "priority__lte"}
	fileArgs = []string{"mimeType", "mimeType__contains", "createTimestamp__lte", "createTimestamp__gte", "directory",
		"directory__contains", "name", "name__contains", "notes__contains", "size__lte", "size__gte", "tags",
		"tags__any", "tags__contains", "sort"}
)

// withEmptyLists adds to the operations those of the lists that are empty, and those that say of
// each thing that somebody asks for by its id that it is not there.
func withEmptyLists(all map[string]operation) map[string]operation {
	for kind, known := range emptyLists {
		all["GET "+kind] = operation{serve: nothing(kind), scope: identity.ScopeRead, about: "An empty list",
			args: paged(known...), answer: vms.PageOf[struct{}]{}}
		all["GET "+kind+"/{id}"] = operation{serve: func(_ *Server, c *call) error {
			if err := c.args.err(); err != nil {
				return err
			}
			return vms.NotFound(kind, "", c.r.PathValue("id"))
		}, scope: identity.ScopeRead, about: "Not found, as there are none", args: []string{"include"},
			code: http.StatusNotFound, answer: vms.Error{}}
	}
	return all
}

// nothing serves an empty list of a kind.
func nothing(kind string) func(*Server, *call) error {
	return func(s *Server, c *call) error {
		page, _, err := pageOf(s, c, c.args, kind, []struct{}{})
		if err != nil {
			return err
		}
		return c.ok(page)
	}
}

// listPorts is GET /cameras/{id}/io/ports and /devices/{id}/io/ports: none, of a device that the
// caller sees.
func (s *Server) listPorts(c *call) error {
	id := c.r.PathValue("id")
	_, ok := s.camera(c.principal, id)
	if _, has := s.opts.Cameras.(BridgeSource); !ok && has && strings.HasPrefix(c.r.URL.Path, v3+"devices/") {
		_, _, ok = s.bridge(c.principal, id)
	}
	if !ok {
		return vms.NotFound("devices", "", id)
	}
	return nothing("ports")(s, c)
}

// named is what a list of tags or languages consists of.
type named struct {
	Tag  string `json:"tag,omitempty"` // of a language
	Name string `json:"name"`
}

// tagArgs choose among tags.
var tagArgs = []string{"name__contains", "sort"}

// listTags is GET /tags: those of the cameras that the caller sees, each once.
func (s *Server) listTags(c *call) error {
	a := c.args
	var all []named
	for _, id := range s.cameraIDs(c.principal) {
		cam, _ := s.camera(c.principal, id)
		for _, tag := range cam.Tags {
			all = append(all, named{Name: tag})
		}
	}
	byName := func(x, y named) int {
		return cmp.Or(cmp.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)), cmp.Compare(x.Name, y.Name))
	}
	slices.SortFunc(all, byName)
	page, _, err := filtered(s, c, a, "tags", slices.Compact(all),
		func(a *args) (func(named) bool, func(x, y named) int) {
			var k checks[named]
			k.among(a, "name", func(t named) string { return t.Name }, true)
			return k.pass, orderOf(a, orders[named]{"name": byName}, byName)
		})
	if err != nil {
		return err
	}
	return c.ok(page)
}

// listLanguages is GET /languages: those that the catalogue of event types is in.
func (s *Server) listLanguages(c *call) error {
	page, _, err := pageOf(s, c, c.args, "languages",
		[]named{{"en", "English"}, {"ja", "日本語"}})
	if err != nil {
		return err
	}
	return c.ok(page)
}

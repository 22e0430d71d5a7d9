package server

import (
	"net/http"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// v3 begins all paths of the interface.
const v3 = "/api/v3.0/"

// operation is a method of a path: who serves it, and what that takes and answers. serve either
// writes an answer or returns an error, which becomes one.
type operation struct {
	serve  func(*Server, *call) error
	scope  string             // what the token needs, "" for nothing beyond being valid
	needs  func(Options) bool // nil: each server has it
	about  string
	args   []string // none is known but these
	body   any      // of the Go type that is read; nil: none
	code   int      // 0: 200
	answer any      // of the Go type that is written; nil: no JSON
	media  string   // of an answer that is no JSON, "" for none
}

// paged are the arguments of a list with pages.
func paged(more ...string) []string { return slices.Concat(pageArgs, more) }

// What a server must have for some operations.
func describes(o Options) bool    { _, ok := o.Cameras.(Describer); return ok }
func knowsBridges(o Options) bool { _, ok := o.Cameras.(BridgeSource); return ok }
func hasDirectory(o Options) bool { return o.Directory != nil }
func takesBridges(o Options) bool { return o.Bridges != nil }
func takesBatches(o Options) bool { _, ok := o.Events.(BatchStore); return ok && takesBridges(o) }
func leaves(o Options) bool       { _, ok := o.Bridges.(Leaver); return ok }
func streams(o Options) bool      { return o.Feed != nil }
func hasTunnels(o Options) bool   { return o.Tunnels != nil }

// operations are those of all paths, by method and path below v3.
func operations() map[string]operation {
	const read, report = identity.ScopeRead, identity.ScopeReport
	return withEmptyLists(map[string]operation{
		"GET events": {serve: (*Server).listEvents, scope: read, about: "Events of actors, by time and type",
			args: listParams, answer: vms.EventPage{}},
		"POST events": {serve: (*Server).reportEvent, scope: report, about: "Report an event",
			body: vms.Event{}, code: http.StatusCreated, answer: vms.Event{}},
		"GET events/{id}": {serve: (*Server).getEvent, scope: read, about: "One event",
			args: []string{"include"}, answer: vms.Event{}},
		"GET events:listFieldValues": {serve: (*Server).listFieldValues, scope: read,
			about: "The types that events of actors may have", args: []string{"actor", "actor__in"},
			answer: vms.FieldValues{}},
		"GET events:listRecentByType": {serve: (*Server).listRecentByType, scope: read,
			about: "The newest event of each type", args: []string{"actor", "actor__in", "type__in", "include"},
			answer: vms.EventPage{}},
		"GET eventMetrics": {serve: (*Server).countEvents, scope: read,
			about: "How many events began in each interval",
			args: []string{"actor", "actor__in", "eventType", "timestamp__gte", "timestamp__lte",
				"aggregateByMinutes"},
			answer: []counts{}},
		"GET eventTypes": {serve: (*Server).listEventTypes, about: "The catalogue of event types",
			args: []string{"language", "pageSize", "pageToken"}, answer: vms.PageOf[vms.EventType]{}},
		"GET media/recordedImage.jpeg": {serve: (*Server).recordedImage, scope: read,
			about: "The still of a camera before, at or after a time",
			args: slices.Concat([]string{"deviceId", "type", "pageToken", argSignature}, wishArgs,
				vms.Ops[:]),
			media: "image/jpeg"},
		"GET media/recordedImage.jpeg:listFieldValues": {serve: (*Server).listOverlays, scope: read,
			about: "The overlays that can be drawn", args: []string{"deviceId", "include", "type"},
			answer: map[string]any{}},
		"GET media/liveImage.jpeg": {serve: (*Server).liveImage, scope: read,
			about: "The newest still of a camera", args: append([]string{"deviceId", "type"}, wishArgs...),
			media: "image/jpeg"},
		"GET media": {serve: (*Server).listMedia, scope: read,
			about: "When there are stills of a camera, and why there are none", args: mediaArgs,
			answer: vms.MediaPage{}},
		"GET media/session": {serve: (*Server).openMediaSession, scope: read,
			about: "A cookie that opens images", answer: map[string]any{}},
		"GET clientSettings": {serve: (*Server).clientSettings, about: "The base address for clients",
			answer: vms.ClientSettings{}},
		"GET cameras": {serve: (*Server).listCameras, scope: read, about: "Cameras, chosen and in order",
			args: paged(cameraArgs...), answer: vms.PageOf[vms.Camera]{}},
		"GET cameras/{id}": {serve: (*Server).getCamera, scope: read, about: "One camera",
			args: []string{"include"}, answer: vms.Camera{}},
		"PATCH cameras/{id}": {serve: (*Server).changeCamera, scope: identity.ScopeAll, needs: describes,
			about: "Give a camera a name, notes or tags", body: map[string]any{}, code: http.StatusNoContent},
		"GET cameras/{id}/settings": {serve: (*Server).cameraSettings, scope: read,
			about: "How a camera is set", args: []string{"include"}, answer: vms.Settings{}},
		"GET bridges": {serve: (*Server).listBridges, scope: read, needs: knowsBridges,
			about: "Bridges, chosen and in order", args: paged(deviceArgs...),
			answer: vms.PageOf[vms.Bridge]{}},
		"GET bridges/{id}": {serve: (*Server).getBridge, scope: read, needs: knowsBridges, about: "One bridge",
			args: []string{"include"}, answer: vms.Bridge{}},
		"GET users/self": {serve: (*Server).getSelf, about: "Whom the token stands for",
			args: []string{"include"}, answer: vms.User{}},
		"PATCH users/self": {serve: (*Server).changeSelf, scope: identity.ScopeAll, needs: hasDirectory,
			about: "Change one's own firstName, lastName, language or timeZone", body: vms.UserChange{},
			code: http.StatusNoContent},
		"GET users": {serve: (*Server).listUsers, scope: read, needs: hasDirectory,
			about: "The users of the account", args: paged(userArgs...), answer: vms.PageOf[vms.User]{}},
		"GET users/{id}": {serve: (*Server).getUser, scope: read, needs: hasDirectory, about: "One user",
			args: []string{"include"}, answer: vms.User{}},
		"GET users/self/trustedClients": {serve: (*Server).listTrustedClients, scope: read, needs: hasDirectory,
			about: "Where the token's user signs in without a code", args: pageArgs,
			answer: vms.PageOf[vms.TrustedClient]{}},
		"GET accounts": {serve: (*Server).listAccounts, scope: read, needs: hasDirectory,
			about: "The accounts that may be read", args: paged(accountArgs...),
			answer: vms.PageOf[vms.Account]{}},
		"GET accounts/{id}": {serve: (*Server).getAccount, scope: read, needs: hasDirectory,
			about: "One account, or self", args: []string{"include"}, answer: vms.Account{}},
		"GET feeds": {serve: (*Server).listFeeds, scope: read, about: "The image feeds of cameras",
			args: paged("deviceId", "deviceId__in", "type"), answer: vms.PageOf[vms.Feed]{}},
		"GET tags": {serve: (*Server).listTags, scope: read, about: "The tags of cameras",
			args: paged(tagArgs...), answer: vms.PageOf[named]{}},
		"GET languages": {serve: (*Server).listLanguages,
			about: "The languages of the catalogue of event types", args: pageArgs,
			answer: vms.PageOf[named]{}},
		"GET cameras/{id}/io/ports": {serve: (*Server).listPorts, scope: read, about: "An empty list",
			args: pageArgs, answer: vms.PageOf[struct{}]{}},
		"GET devices/{id}/io/ports": {serve: (*Server).listPorts, scope: read, about: "An empty list",
			args: pageArgs, answer: vms.PageOf[struct{}]{}},
		"GET eventSubscriptions": {serve: (*Server).listSubscriptions, scope: read, needs: streams,
			about: "The subscriptions of this token", args: []string{"pageToken", "pageSize", "include"},
			answer: vms.PageOf[subscription]{}},
		"POST eventSubscriptions": {serve: (*Server).subscribe, scope: read, needs: streams,
			about: "Subscribe to events", args: []string{"include"}, body: subscription{},
			code: http.StatusCreated, answer: subscription{}},
		"GET eventSubscriptions/{id}": {serve: (*Server).getSubscription, scope: read, needs: streams,
			about: "One subscription", args: []string{"include"}, answer: subscription{}},
		"DELETE eventSubscriptions/{id}": {serve: (*Server).unsubscribe, scope: read, needs: streams,
			about: "End a subscription", code: http.StatusNoContent},
		"GET eventSubscriptions/{id}/filters": {serve: (*Server).listFilters, scope: read, needs: streams,
			about: "The filters of a subscription", args: []string{"pageToken", "pageSize"},
			answer: vms.PageOf[filter]{}},
		"POST eventSubscriptions/{id}/filters": {serve: (*Server).addFilter, scope: read, needs: streams,
			about: "Add a filter", body: filter{}, code: http.StatusCreated, answer: filter{}},
		"GET eventSubscriptions/{id}/filters/{filter}": {serve: (*Server).getFilter, scope: read,
			needs: streams, about: "One filter", answer: filter{}},
		"DELETE eventSubscriptions/{id}/filters/{filter}": {serve: (*Server).removeFilter, scope: read,
			needs: streams, about: "Remove a filter", code: http.StatusNoContent},
		"GET eventSubscriptions/{id}/stream": {serve: (*Server).stream, scope: read, needs: streams,
			about: "Events as they are stored", args: []string{queryLastID, argSignature},
			media: "text/event-stream"},
		// Between bridges and the service.
		"POST bridges:register": {serve: (*Server).registerBridge, scope: report, needs: takesBridges,
			about: "A bridge says which cameras it has", body: vms.Registration{}, answer: vms.Registered{}},
		"POST events:report": {serve: (*Server).reportEvents, scope: report, needs: takesBatches,
			about: "A bridge reports many events", body: vms.ReportMany{}, answer: vms.ReportedMany{}},
		"POST bridges:leave": {serve: (*Server).leave, scope: report, needs: leaves, about: "A bridge stops",
			args: []string{"bridgeId"}, code: http.StatusNoContent},
		"GET bridges:tunnel": {serve: (*Server).openTunnel, scope: report, needs: hasTunnels,
			about: "A bridge opens its tunnel, a WebSocket", args: []string{"bridgeId"},
			code: http.StatusSwitchingProtocols},
	})
}

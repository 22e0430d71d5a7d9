package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// pathOpenAPI is where the document of this interface is.
const pathOpenAPI = v3 + "openapi.json"

// v3 begins all paths of the interface.
const v3 = "/api/v3.0/"

// operation says of a method of a path what its handler takes and answers. The arguments are what
// parseArgs is told, the bodies the Go types that are read and written; a test asks each handler.
type operation struct {
	about  string
	args   []string
	body   any    // nil: none
	code   int    // 0: 200
	answer any    // nil: no JSON
	media  string // of an answer that is no JSON, "" for none
}

// paged are the arguments of a list with pages.
func paged(more ...string) []string { return slices.Concat(pageArgs, more) }

// operations are those of all paths, below v3. Which of them a server has depends on its Options.
var operations = withEmptyLists(map[string]operation{
	"GET events":      {about: "Events of actors, by time and type", args: listParams, answer: vms.EventPage{}},
	"POST events":     {about: "Report an event", body: vms.Event{}, code: http.StatusCreated, answer: vms.Event{}},
	"GET events/{id}": {about: "One event", args: []string{"include"}, answer: vms.Event{}},
	"GET events:listFieldValues": {about: "The types that events of actors may have",
		args:   []string{"actor", "actor__in"},
		answer: vms.FieldValues{}},
	"GET events:listRecentByType": {about: "The newest event of each type",
		args:   []string{"actor", "actor__in", "type__in", "include"},
		answer: vms.EventPage{}},
	"GET eventMetrics": {about: "How many events began in each interval",
		args: []string{"actor", "actor__in", "eventType",
			"timestamp__gte", "timestamp__lte", "aggregateByMinutes"}, answer: []counts{}},
	"GET eventTypes": {about: "The catalogue of event types", args: []string{"language", "pageSize", "pageToken"},
		answer: vms.PageOf[vms.EventType]{}},
	"GET media/recordedImage.jpeg": {about: "The still of a camera before, at or after a time",
		args:  append([]string{"deviceId", "type", "pageToken", argSignature}, slices.Concat(wishArgs, vms.Ops[:])...),
		media: "image/jpeg"},
	"GET media/recordedImage.jpeg:listFieldValues": {about: "The overlays that can be drawn",
		args:   []string{"deviceId", "include", "type"},
		answer: map[string]any{}},
	"GET media/liveImage.jpeg": {about: "The newest still of a camera",
		args: append([]string{"deviceId", "type"}, wishArgs...), media: "image/jpeg"},
	"GET media": {about: "When there are stills of a camera, and why there are none", args: mediaArgs,
		answer: vms.MediaPage{}},
	"GET media/session":  {about: "A cookie that opens images", answer: map[string]any{}},
	"GET clientSettings": {about: "The base address for clients", answer: vms.ClientSettings{}},
	"GET cameras": {about: "Cameras, chosen and in order", args: paged(cameraArgs...),
		answer: vms.PageOf[vms.Camera]{}},
	"GET cameras/{id}": {about: "One camera", args: []string{"include"}, answer: vms.Camera{}},
	"PATCH cameras/{id}": {about: "Give a camera a name, notes or tags", body: map[string]any{},
		code: http.StatusNoContent},
	"GET cameras/{id}/settings": {about: "How a camera is set", args: []string{"include"}, answer: vms.Settings{}},
	"GET bridges": {about: "Bridges, chosen and in order", args: paged(deviceArgs...),
		answer: vms.PageOf[vms.Bridge]{}},
	"GET bridges/{id}": {about: "One bridge", args: []string{"include"}, answer: vms.Bridge{}},
	"GET users/self":   {about: "Whom the token stands for", args: []string{"include"}, answer: vms.User{}},
	"PATCH users/self": {about: "Change one's own firstName, lastName, language or timeZone", body: vms.UserChange{},
		code: http.StatusNoContent},
	"GET users": {about: "The users of the account", args: paged(userArgs...),
		answer: vms.PageOf[vms.User]{}},
	"GET users/{id}": {about: "One user", args: []string{"include"}, answer: vms.User{}},
	"GET users/self/trustedClients": {about: "Where the token's user signs in without a code", args: pageArgs,
		answer: vms.PageOf[vms.TrustedClient]{}},
	"GET accounts": {about: "The accounts that may be read", args: paged(accountArgs...),
		answer: vms.PageOf[vms.Account]{}},
	"GET accounts/{id}": {about: "One account, or self", args: []string{"include"}, answer: vms.Account{}},
	"GET feeds": {about: "The image feeds of cameras", args: paged("deviceId", "deviceId__in", "type"),
		answer: vms.PageOf[vms.Feed]{}},
	"GET tags": {about: "The tags of cameras", args: paged(tagArgs...), answer: vms.PageOf[named]{}},
	"GET languages": {about: "The languages of the catalogue of event types", args: pageArgs,
		answer: vms.PageOf[named]{}},
	"GET cameras/{id}/io/ports": {about: "An empty list", args: pageArgs, answer: vms.PageOf[struct{}]{}},
	"GET devices/{id}/io/ports": {about: "An empty list", args: pageArgs, answer: vms.PageOf[struct{}]{}},
	"GET eventSubscriptions": {about: "The subscriptions of this token",
		args:   []string{"pageToken", "pageSize", "include"},
		answer: vms.PageOf[subscription]{}},
	"POST eventSubscriptions": {about: "Subscribe to events", args: []string{"include"}, body: subscription{},
		code: http.StatusCreated, answer: subscription{}},
	"GET eventSubscriptions/{id}":    {about: "One subscription", args: []string{"include"}, answer: subscription{}},
	"DELETE eventSubscriptions/{id}": {about: "End a subscription", code: http.StatusNoContent},
	"GET eventSubscriptions/{id}/filters": {about: "The filters of a subscription",
		args:   []string{"pageToken", "pageSize"},
		answer: vms.PageOf[filter]{}},
	"POST eventSubscriptions/{id}/filters": {about: "Add a filter", body: filter{}, code: http.StatusCreated,
		answer: filter{}},
	"GET eventSubscriptions/{id}/filters/{filter}":    {about: "One filter", answer: filter{}},
	"DELETE eventSubscriptions/{id}/filters/{filter}": {about: "Remove a filter", code: http.StatusNoContent},
	"GET eventSubscriptions/{id}/stream": {about: "Events as they are stored",
		args: []string{queryLastID, argSignature}, media: "text/event-stream"},
	// Between bridges and the service.
	"POST bridges:register": {about: "A bridge says which cameras it has", body: vms.Registration{},
		answer: vms.Registered{}},
	"POST events:report": {about: "A bridge reports many events", body: vms.ReportMany{},
		answer: vms.ReportedMany{}},
	"POST bridges:leave": {about: "A bridge stops", args: []string{"bridgeId"}, code: http.StatusNoContent},
	"GET bridges:tunnel": {about: "A bridge opens its tunnel, a WebSocket", args: []string{"bridgeId"},
		code: http.StatusSwitchingProtocols},
})

// openAPI serves the document of what this server has, to anybody.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	if err := parseArgs(r.URL.RawQuery).err(); err != nil {
		return err
	}
	return (&call{w: w, r: r}).ok(s.document())
}

type object = map[string]any

// document is the document in OpenAPI 3.0.3.
func (s *Server) document() object {
	kinds, paths := schemas{}, object{}
	for _, pattern := range slices.Sorted(maps.Keys(s.served)) {
		path := object{}
		for _, method := range s.served[pattern] {
			name := strings.TrimPrefix(pattern, v3)
			path[strings.ToLower(method)] = operations[method+" "+name].object(method, name, kinds)
		}
		paths[pattern] = path
	}
	fault := kinds.of(reflect.TypeFor[vms.Error]())
	return object{
		"openapi": "3.0.3",
		"info":    object{"title": "vmsbridge and vmscloud", "version": "3.0"},
		"paths":   paths,
		"components": object{
			"schemas": kinds,
			"responses": object{"Error": object{"description": "What is wrong, and what to do",
				"content": object{"application/json": object{"schema": fault}}}},
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []object{{"bearer": []string{}}},
	}
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func (o operation) object(method, name string, kinds schemas) object {
	args := []object{}
	for _, m := range inPath.FindAllStringSubmatch(name, -1) {
		args = append(args, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, arg := range slices.Sorted(slices.Values(o.args)) {
		args = append(args, object{"name": arg, "in": "query", "schema": object{"type": "string"}})
	}
	answer := object{"description": http.StatusText(o.status())}
	switch {
	case o.answer != nil:
		answer["content"] = object{"application/json": object{"schema": kinds.of(reflect.TypeOf(o.answer))}}
	case o.media != "":
		answer["content"] = object{o.media: object{"schema": object{"type": "string", "format": "binary"}}}
	}
	out := object{"operationId": method + " " + name, "summary": o.about, "parameters": args, "responses": object{
		strconv.Itoa(o.status()): answer, "default": object{"$ref": "#/components/responses/Error"}}}
	if o.body != nil {
		out["requestBody"] = object{"required": true,
			"content": object{"application/json": object{"schema": kinds.of(reflect.TypeOf(o.body))}}}
	}
	return out
}

func (o operation) status() int {
	if o.code == 0 {
		return http.StatusOK
	}
	return o.code
}

// schemas are those of the named types of Go, by their names.
type schemas map[string]object

// of is the schema of a type. Structs stand under their names; each is made once.
func (k schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[vms.Time](), reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[vms.Data]():
		return object{"type": "object", "required": []string{"type"}, "properties": object{
			"type": object{"type": "string"}, "creatorId": object{"type": "string"}}}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return k.of(t.Elem())
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": k.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
	default:
		return object{}
	}
	name := nameOf(t.Name())
	if name == "" {
		return k.fields(t)
	}
	if k[name] == nil {
		k[name] = object{} // for a type that holds itself
		k[name] = k.fields(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

var ofPages = regexp.MustCompile(`^PageOf\[.*?(\w+)(?: \{\}|\{\})?\]$`)

// nameOf is what the document calls a type of Go: a page of cameras is a CameraPage.
func nameOf(name string) string {
	if m := ofPages.FindStringSubmatch(name); m != nil {
		return nameOf(m[1]) + "Page"
	}
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// fields is a struct as an object. What may be left away is not required, what may be null says so;
// nothing else is there.
func (k schemas) fields(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" || name == "" {
			continue
		}
		schema := k.of(f.Type)
		if strings.Contains(options, "omit") {
			properties[name] = schema
			continue
		}
		required = append(required, name)
		if f.Type.Kind() == reflect.Pointer {
			if schema["$ref"] != nil {
				schema = object{"allOf": []object{schema}}
			}
			schema["nullable"] = true
		}
		properties[name] = schema
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

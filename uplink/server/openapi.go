package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// pathOpenAPI is where the document of this interface is.
const pathOpenAPI = v3 + "openapi.json"

// openAPI serves the document of what this server has, to anybody.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	if err := parseArgs(r.URL.RawQuery).err(); err != nil {
		return err
	}
	buf, err := encoded(s.document())
	if err != nil {
		return err
	}
	etag := fmt.Sprintf(`"%x"`, hashBytes(buf.Bytes()))
	w.Header().Set("Cache-Control", "no-cache") // asked anew, answered by 304 until the program changes
	w.Header().Set("ETag", "W/"+etag)           // packed or not
	if route.Known(r, etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	(&call{w: w, r: r}).okBody(buf)
	return nil
}

type object = map[string]any

// document is the document in OpenAPI 3.0.3.
func (s *Server) document() object {
	kinds, paths := schemas{}, object{}
	for _, name := range slices.Sorted(maps.Keys(s.served)) { // the names of schemas are given in one order
		method, path, _ := strings.Cut(name, " ")
		if paths[v3+path] == nil {
			paths[v3+path] = object{}
		}
		paths[v3+path].(object)[strings.ToLower(method)] = s.served[name].object(method, path, kinds)
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

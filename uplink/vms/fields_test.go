package vms

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fitting are values that each kind of field takes, unfit ones that it does not.
var fitting = map[string][]string{
	"text": {`"x"`, `""`}, "number": {"1", "-0.5", "1e3"}, "integer": {"0", "-7", "1e2"}, "boolean": {"true", "false"},
	"object": {"{}", `{"a":1}`},
	"time":   {`"2026-11-21T07:10:00.000+00:00"`, `"2026-11-21T07:10:00Z"`}, "box": {"[0,0.1,0.5,1]"},
	"point": {"[1,2]"}, "points": {"[]", "[[0,0],[0.5,1],[1,1]]"},
	"status": {`{"connectionStatus":"online"}`}, "position": {`{"x":1,"y":-2.5,"z":0}`, `{"x":1}`},
	"regions": {`[{"name":"a"},{"name":"a","id":"b"}]`},
	"overlays": {
		`[{"label":"a","timestamp":"2026-11-21T07:10:00Z","labelLocation":"topLeft","color":"#fff","lineWidth":2,"boundingBox":[0,0,1,1]}]`},
}

var unfit = map[string][]string{
	"text": {"5", "true", "[]", "{}"}, "number": {`"high"`, `"1"`, "true", "[1]"}, "integer": {"1.5", `"1"`},
	"boolean": {`"true"`, "1"}, "object": {"[]", `"x"`, "1"},
	"time": {`"noon"`, "1700000000", `"2026-11-21"`}, "box": {"[0.1,0.2,0.3]", `["a","b","c","d"]`, "[0,0,640,360]",
		"[0,0,1,1,1]", `"0,0,1,1"`, "{}", "[0,0,-1,1]", "[null,0,0,0]"},
	"point": {"[1]", "[1,2,3]", `["a","b"]`, "1"}, "points": {"[1,2]", "[[1]]", `"x"`, "{}"},
	"status":   {`"online"`, `{"connectionStatus":"fine"}`, `{"connectionStatus":5}`, "{}"},
	"position": {"[1,2,3]", `{"x":"1"}`}, "regions": {`["a"]`, `[{"id":"b"}]`, `[{"name":5}]`, "{}"},
	"overlays": {`[{"label":"a"}]`, `{}`,
		`[{"label":"a","timestamp":"2026-11-21T07:10:00Z","labelLocation":"topLeft","color":"#fff","lineWidth":2,"boundingBox":[0,0,1]}]`,
		`[{"label":"a","timestamp":"2026-11-21T07:10:00Z","labelLocation":"topLeft","color":"#fff","lineWidth":"2","boundingBox":[0,0,1,1]}]`,
		`[{"label":"a","timestamp":"then","labelLocation":"topLeft","color":5,"lineWidth":2,"boundingBox":[0,0,1,1]}]`},
}

// Every field of every schema takes what it is for and nothing else, and the refusal names the
// schema, the field, what was sent and what would do.
func TestEachFieldHasItsKind(t *testing.T) {
	item := func(schema string, values map[string]string) Data {
		fields := map[string]json.RawMessage{"type": json.RawMessage(`"` + schema + `"`),
			"creatorId": json.RawMessage(`"x"`), "another": json.RawMessage(`[1,"a"]`)}
		for name, v := range values {
			fields[name] = json.RawMessage(v)
		}
		d, err := MakeData(fields)
		require.NoError(t, err)
		return d
	}
	checked := 0
	for schema, fields := range fieldsOf {
		all := map[string]string{}
		for _, f := range fields {
			all[f.name] = fitting[f.kind][0]
		}
		require.Empty(t, checkItem("data[0]", item(schema, all)), schema)
		for _, f := range fields {
			with := func(v string) []Problem {
				one := map[string]string{}
				for name, value := range all {
					one[name] = value
				}
				one[f.name] = v
				return checkItem("data[0]", item(schema, one))
			}
			for _, v := range fitting[f.kind] {
				require.Empty(t, with(v), "%s %s %s", schema, f.name, v)
			}
			for _, v := range unfit[f.kind] {
				checked++
				got := with(v)
				require.Len(t, got, 1, "%s %s %s", schema, f.name, v)
				require.Equal(t, "data[0]."+f.name, got[0].Argument)
				require.Contains(t, got[0].Text, schema)
				require.Contains(t, got[0].Text, fieldKinds[f.kind].must)
				require.Contains(t, got[0].Text, string([]rune(v)[:min(len([]rune(v)), 20)]))
			}
			null := with("null")
			require.Equal(t, f.required, len(null) == 1, "%s %s: null is as if it was not there", schema, f.name)
		}
	}
	require.Greater(t, checked, 500)
	for kind := range fieldKinds {
		require.NotEmpty(t, fitting[kind], kind)
		require.NotEmpty(t, unfit[kind], kind)
	}
	require.Less(t, len(shorten(json.RawMessage(`"`+strings.Repeat("ä", 1000)+`"`))), 200)
}

// The fields of the interface document's own schema, as one faulty reporter sent them.
func TestAPlateReadOfAnotherType(t *testing.T) {
	for field, sent := range map[string]string{"plate": "5", "plateConfidence": `"high"`,
		"plateBoundingBox": "[0.1,0.2,0.3]", "plateRegion": "7", "plateRegionConfidence": `"x"`} {
		fields := map[string]json.RawMessage{"type": json.RawMessage(`"vms.lprDetection.v1"`),
			"creatorId": json.RawMessage(`"vms.lpr"`), "plate": json.RawMessage(`"ABC 123"`)}
		fields[field] = json.RawMessage(sent)
		d, err := MakeData(fields)
		require.NoError(t, err)
		got := checkItem("data[0]", d)
		require.Len(t, got, 1, field)
		require.Contains(t, got[0].String(), "data[0]."+field+": is "+sent+", but vms.lprDetection.v1 wants ")
	}
}

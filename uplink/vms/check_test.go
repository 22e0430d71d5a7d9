package vms

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var at = time.Date(2026, 11, 21, 7, 10, 0, 123_000_000, time.UTC)

// good is an event that has nothing wrong.
func good() Event {
	ev := Event{Type: TypeMotion, StartTimestamp: At(at), EndTimestamp: Ptr(at.Add(4 * time.Second)), Span: true,
		AccountID: "acc-1",
		ActorID:   "100d4c41", ActorAccountID: "acc-1", ActorType: ActorCamera, CreatorID: CreatorMotion}
	ev.SetData(CreatorDetails("", CreatorInfo{ID: "b-1", Vendor: "vmsbridge"}),
		ObjectDetection("", ObjectID(ActorCamera, "100d4c41", "1"), at, [4]float64{0.1, 0.2, 0.3, 0.4}))
	return ev
}

func data(t *testing.T, raw string) Data {
	t.Helper()
	var d Data
	require.NoError(t, json.Unmarshal([]byte(raw), &d))
	return d
}

func TestCheck(t *testing.T) {
	with := func(raw string) func(*Event) {
		return func(e *Event) { e.Data = append(e.Data, data(t, raw)) }
	}
	lpr := func(raw string) func(*Event) {
		return func(e *Event) {
			e.Type = "vms.lprPlateReadEvent.v1"
			e.SetData(data(t, raw))
		}
	}
	for name, c := range map[string]struct {
		edit func(*Event)
		want []string // "argument: words" of each problem, in order
	}{
		"nothing wrong": {func(*Event) {}, nil},
		"ongoing":       {func(e *Event) { e.EndTimestamp = nil }, nil},
		"no length":     {func(e *Event) { e.EndTimestamp = &e.StartTimestamp }, nil},
		"point":         {func(e *Event) { e.Span, e.EndTimestamp = false, &e.StartTimestamp }, nil},
		"point without end": {func(e *Event) {
			e.Span, e.EndTimestamp = false, nil
		}, []string{"endTimestamp: must equal"}},
		"point with length": {func(e *Event) { e.Span = false }, []string{"endTimestamp: must equal"}},
		"ends before start": {func(e *Event) {
			e.EndTimestamp = Ptr(at.Add(-time.Millisecond))
		}, []string{"endTimestamp: is before"}},
		"no start": {func(e *Event) {
			e.StartTimestamp, e.EndTimestamp = Time{}, nil
		}, []string{"startTimestamp: is not set"}},
		"unknown type":          {func(e *Event) { e.Type = "vms.motionDetectionEvent.v2" }, []string{"type: "}},
		"type of the yaml slip": {func(e *Event) { e.Type += ".yaml" }, []string{"type: "}},
		"every actor type":      {func(e *Event) { e.ActorType = "gateway" }, nil},
		"unknown actor type":    {func(e *Event) { e.ActorType = "Camera" }, []string{"actorType: "}},
		"no creator":            {func(e *Event) { e.CreatorID = "" }, []string{"creatorId: "}},
		"several at once": {func(e *Event) { *e = Event{} },
			[]string{"type:", "startTimestamp:", "endTimestamp:", "accountId:", "actorId:", "actorAccountId:",
				"creatorId:", "actorType:", "dataSchemas:"}},
		"no schema":              {func(e *Event) { e.SetData() }, []string{"dataSchemas: must name"}},
		"schema without an item": {func(e *Event) { e.DataSchemas = append(e.DataSchemas, SchemaFullFrame) }, nil},
		"two-part schema":        {func(e *Event) { e.DataSchemas = append(e.DataSchemas, SchemaOverlay) }, nil},
		"schema of no form": {func(e *Event) {
			e.DataSchemas = append(e.DataSchemas, "vms.objectDetection")
		}, []string{"dataSchemas[2]: "}},
		"schema of public prefix": {func(e *Event) {
			e.DataSchemas = append(e.DataSchemas, "een.objectDetection.v1")
		}, []string{"dataSchemas[2]: "}},
		"schema of another type": {func(e *Event) {
			e.DataSchemas = append(e.DataSchemas, SchemaDeviceStatus)
		}, []string{"dataSchemas[2]: vms.deviceCloudStatusUpdate.v1 cannot be attached"}},
		"schema not yet heard of": {func(e *Event) { e.DataSchemas = append(e.DataSchemas, "vms.newThing.v3") }, nil},
		"item not listed": {
			with(
				`{"type":"vms.croppedFrameImageUrl.v1","creatorId":"x","objectId":"a:1","httpsUrl":"u","timestamp":"2026-11-21T07:10:00Z"}`), []string{"data[2].type: "}},
		"item without creator": {with(`{"type":"vms.creatorDetails.v1","id":"a","vendor":"b"}`),
			[]string{"data[2].creatorId: "}},
		"item with null creator": {with(`{"type":"vms.creatorDetails.v1","creatorId":null,"id":"a","vendor":"b"}`),
			[]string{"data[2].creatorId: "}},
		"item without its fields": {with(`{"type":"vms.creatorDetails.v1","creatorId":"x","vendor":null}`),
			[]string{"data[2].id: ", "data[2].vendor: "}},
		"box of three": {
			with(
				`{"type":"vms.objectDetection.v1","creatorId":"x","objectId":"a:1","timestamp":"2026-11-21T07:10:00Z","boundingBox":[0,0,1]}`), []string{"data[2].boundingBox: "}},
		"box in pixels": {
			with(
				`{"type":"vms.objectDetection.v1","creatorId":"x","objectId":"a:1","timestamp":"2026-11-21T07:10:00Z","boundingBox":[0,0,640,360]}`), []string{"data[2].boundingBox: "}},
		"item's time": {
			with(
				`{"type":"vms.objectDetection.v1","creatorId":"x","objectId":"a:1","timestamp":"noon","boundingBox":[0,0,1,1]}`), []string{"data[2].timestamp: "}},
		"fields unknown to us": {
			with(`{"type":"vms.creatorDetails.v1","creatorId":"x","id":"a","vendor":"b","shoeSize":43}`), nil},
		"plate": {
			lpr(`{"type":"vms.lprDetection.v1","creatorId":"vms.lpr","plate":"AB 123","plateRegion":null}`), nil},
		"user data": {
			lpr(`{"type":"vms.userData.v1","creatorId":"x","apartmentNum":"105A","floor":3,"a":"b","c":"d","e":"f"}`),
			nil},
		"user data, six keys": {
			lpr(`{"type":"vms.userData.v1","creatorId":"x","a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}`),
			[]string{"data[0]: has 6 keys"}},
		"user data, not camelCase": {lpr(`{"type":"vms.userData.v1","creatorId":"x","Apartment_num":"1"}`),
			[]string{"data[0]: key"}},
		"user data, 256 long": {lpr(`{"type":"vms.userData.v1","creatorId":"x","a":"` + strings.Repeat("ü", 256) +
			`"}`), nil},
		"user data, 257 long": {lpr(`{"type":"vms.userData.v1","creatorId":"x","a":"` + strings.Repeat("ü", 257) +
			`"}`), []string{"data[0].a: "}},
		"user data, long key": {lpr(`{"type":"vms.userData.v1","creatorId":"x","` + strings.Repeat("a", 257) +
			`":"1"}`), []string{"data[0]: key"}},
	} {
		t.Run(name, func(t *testing.T) {
			ev := good()
			c.edit(&ev)
			got := Check(ev)
			require.Len(t, got, len(c.want), "%v", got)
			for i, p := range got {
				require.True(t, strings.HasPrefix(p.String(), c.want[i]), "got %q, want %q", p, c.want[i])
			}
		})
	}
}

func TestCheckStatus(t *testing.T) {
	for status, ok := range map[string]bool{StatusOnline: true, StatusBridgeOffline: true, StatusOff: true,
		"Online": false, "": false} {
		ev := good()
		ev.Type = TypeDeviceStatus
		ev.SetData(DeviceCloudStatusUpdate(CreatorHealth, status))
		require.Equal(t, ok, len(Check(ev)) == 0, "%q: %v", status, Check(ev))
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"100d4c41", "cam-1", "a.b_c:d", "ä", strings.Repeat("a", 256)} {
		require.True(t, ValidID(id), id)
	}
	for _, id := range []string{"", ".", "..", "a/b", "a?b", "a#b", "a%b", "a,b", "a b", "a\tb", "a\x00", "a\\b",
		"a\xff", strings.Repeat("a", 257)} {
		require.False(t, ValidID(id), "%q", id)
	}
}

func TestParseEvent(t *testing.T) {
	raw, err := json.Marshal(good())
	require.NoError(t, err)
	ev, problems := ParseEvent(raw)
	require.Empty(t, problems)
	want := good()
	require.Equal(t, want, ev)

	edit := func(change func(map[string]json.RawMessage)) []byte {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &m))
		change(m)
		out, err := json.Marshal(m)
		require.NoError(t, err)
		return out
	}
	// Each of the eleven properties: missing, null, and of another JSON type.
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			_, problems := ParseEvent(edit(func(m map[string]json.RawMessage) { delete(m, p.name) }))
			require.Equal(t, []Problem{{p.name, ReasonMissing, "is required"}}, problems)
			_, problems = ParseEvent(edit(func(m map[string]json.RawMessage) { m[p.name] = json.RawMessage("null") }))
			if p.name == "endTimestamp" {
				require.Empty(t, problems)
			} else {
				require.Equal(t, []Problem{{p.name, ReasonValue, "must not be null"}}, problems)
			}
			_, problems = ParseEvent(edit(func(m map[string]json.RawMessage) {
				m[p.name] = json.RawMessage(`{"a":1}`)
			}))
			require.Len(t, problems, 1, "%v", problems)
			require.Equal(t, p.name, problems[0].Argument)
			require.NotContains(t, problems[0].Text, "Go ")
			_, problems = ParseEvent(edit(func(m map[string]json.RawMessage) {
				m[strings.ToUpper(p.name[:1])+p.name[1:]] = m[p.name]
				delete(m, p.name)
			}))
			require.Len(t, problems, 2, "a property in another case is not that property: %v", problems)
			require.Equal(t, ReasonUnexpected, problems[0].Reason)
			require.Equal(t, ReasonMissing, problems[1].Reason)
		})
	}
	_, problems = ParseEvent(edit(func(m map[string]json.RawMessage) {
		m["data"] = json.RawMessage(`[{"creatorId":"x"},null]`)
	}))
	require.Equal(t, "data", problems[0].Argument)
}

// Fields that we do not know survive, byte for byte.
func TestParseEventKeepsUnknownFields(t *testing.T) {
	raw := `{"type":"vms.motionDetectionEvent.v1","startTimestamp":"2026-11-21T07:10:00+01:00","endTimestamp":null,"span":true,
	"accountId":"a","actorId":"c","actorAccountId":"a","actorType":"camera","creatorId":"x","dataSchemas":["vms.creatorDetails.v1"],
	"data":[{"type":"vms.creatorDetails.v1","creatorId":"x","id":"i","vendor":"v","big":12345678901234567890,"deep":{"b":[1,2]}}]}`
	ev, problems := ParseEvent([]byte(raw))
	require.Empty(t, problems)
	out, err := json.Marshal(ev.Data[0])
	require.NoError(t, err)
	require.Contains(t, string(out), `"big":12345678901234567890,"deep":{"b":[1,2]}`)
	require.Equal(t, "c-2026-11-21T06:10:00.000+00:00-vms.motionDetectionEvent.v1", ev.NaturalID())
}

func TestParseEventAlias(t *testing.T) {
	raw, err := json.Marshal(good())
	require.NoError(t, err)
	ev, problems := ParseEvent([]byte(strings.ReplaceAll(string(raw), `"vms.`, `"een.`)))
	require.Empty(t, problems)
	want := good()
	require.Equal(t, want.NaturalID(), ev.NaturalID())
	require.Equal(t, want.DataSchemas, ev.DataSchemas)
	var fields struct{ Type, CreatorID string }
	require.NoError(t, ev.Data[1].Into(&fields))
	require.Equal(t, SchemaObject, fields.Type)
	require.Equal(t, CreatorMotion, fields.CreatorID)
}

func FuzzParseEvent(f *testing.F) {
	raw, err := json.Marshal(good())
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(strings.ReplaceAll(string(raw), "vms.", "een.")))
	for _, s := range []string{"", "{}", "null", "[]", `{"data":[null]}`, `{"type":1}`,
		`{"startTimestamp":"9999-12-31T23:59:59.999-23:59"}`, `{"data":[{"type":"vms.userData.v1","a":{}}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ev, problems := ParseEvent(body)
		if BadRequest(problems) != nil {
			return
		}
		// What is accepted can be stored, sent on, and read again as the same event.
		out, err := json.Marshal(ev)
		if err != nil {
			t.Fatalf("accepted %q cannot be written: %v", body, err)
		}
		again, problems := ParseEvent(out)
		if len(problems) > 0 {
			t.Fatalf("accepted %q is refused as %q: %v", body, out, problems)
		}
		if again.NaturalID() != ev.NaturalID() || fmt.Sprint(again.EndTimestamp) != fmt.Sprint(ev.EndTimestamp) {
			t.Fatalf("%q became another event", body)
		}
		if strings.ContainsAny(ev.NaturalID(), "/?#% ") {
			t.Fatalf("id %q cannot be put into a path", ev.NaturalID())
		}
	})
}

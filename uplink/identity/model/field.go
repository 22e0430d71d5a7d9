package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"vmsbridge/uplink/identity/api"
)

// Use says which calls may set a field.
type Use int

// The calls. Need says that PUT must have it.
const (
	UseCreate Use = 1 << iota // PUT
	UseUpdate                 // POST
	UseRequired
)

// Who says who may set a field, of those who may make the call at all.
type Who int

// Who may set what.
const (
	Anyone     Who = iota // whoever may make the call
	Self                  // also users on their own record
	Admins                // account superusers and superusers
	Parent                // who acts from the parent account; superusers
	Superusers            // internal use
	ByVerify              // nobody here: only two_factor_authenticate/update and verify
)

// Class groups fields that a reseller can take away from a sub-account.
type Class int

// The classes.
const (
	Plain    Class = iota
	Sharing        // stays when all settings are disabled
	Advanced       // goes with is_advanced_disabled
	Billing        // goes with is_billing_disabled
)

// Field is one row of AccountFields or UserFields.
type Field struct {
	Name  string
	Kind  api.Kind
	Use   Use
	Who   Who
	Class Class
	// Grants says that the field is a permission, which nobody may give who does not have it.
	Grants bool
	// Action says that the field is not stored as it is sent: the caller takes it out of the Change
	// and acts on it.
	Action bool
	// With is the field that this one is set together with, "" for none.
	With  string
	check check
}

// Fields is a table.
type Fields []Field

// kindOf is the kind of a field by its type in the record.
var kindOf = map[reflect.Type]api.Kind{reflect.TypeFor[string](): api.Text, reflect.TypeFor[Flag](): api.Flag,
	reflect.TypeFor[bool](): api.Bool, reflect.TypeFor[int](): api.Int, reflect.TypeFor[Texts](): api.Texts,
	reflect.TypeFor[Lists](): api.Lists, reflect.TypeFor[Object](): api.Any}

// fieldsOf has a row for every field of a record T, and for what acts and is not stored. A row in
// rows may be of several fields, whose names have spaces between; one without a kind has that of
// its field's type. Fields without one are set by nobody.
func fieldsOf[T any](rows ...Field) Fields {
	var all Fields
	for f := range reflect.TypeFor[T]().Fields() {
		if name := f.Tag.Get("json"); name != "-" {
			all = append(all, Field{Name: name, Kind: kindOf[f.Type]})
		}
	}
	for _, row := range rows {
		for name := range strings.FieldsSeq(row.Name) {
			one, at := row, slices.IndexFunc(all, func(f Field) bool { return f.Name == name })
			one.Name = name
			if at < 0 && !row.Action {
				panic("identity: no record has a field " + name)
			} else if at < 0 {
				all = append(all, one)
				continue
			}
			one.Kind = cmp.Or(one.Kind, all[at].Kind)
			all[at] = one
		}
	}
	return all
}

// Find is the row of a name.
func (f Fields) Find(name string) (Field, bool) {
	i := slices.IndexFunc(f, func(r Field) bool { return r.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return f[i], true
}

// Check says what is wrong with the value of a field that is text, as half a sentence.
func (f Fields) Check(name, value string) error {
	row, ok := f.Find(name)
	raw, err := json.Marshal(value)
	if !ok || err != nil || row.check == nil {
		return err
	}
	return row.check(raw)
}

// Change is a set of checked values for fields of a record. The zero value changes nothing.
type Change struct {
	table  Fields
	values map[string]json.RawMessage
	// locked are fields of the record that this call cannot set. They do no harm if they repeat
	// what is stored, as from a client that sends back the whole record.
	locked map[string]json.RawMessage
}

// Parse reads the fields that a call may set from the parameters of a request. extra names
// parameters that are not fields. Errors are *api.Error 400: a parameter that nobody knows, a value
// that is not what its field needs, a field missing that the call needs.
func (f Fields) Parse(set *api.Params, use Use, extra ...string) (Change, error) {
	c := Change{table: f, values: map[string]json.RawMessage{}, locked: map[string]json.RawMessage{}}
	if use == UseCreate {
		var need []string
		for _, row := range f {
			if row.Use&UseRequired != 0 {
				need = append(need, row.Name)
			}
		}
		if err := set.Need(need...); err != nil {
			return c, err
		}
	}
	for _, name := range set.Names() {
		if slices.Contains(extra, name) {
			continue
		}
		row, ok := f.Find(name)
		if !ok || (use == UseCreate && row.Use&UseCreate == 0) {
			return c, api.Badf("unexpected argument: %.80q", name)
		}
		raw, err := set.JSON(name, row.Kind)
		if err != nil {
			return c, err
		}
		if row.Use&use == 0 || (row.Who == ByVerify && use == UseUpdate) {
			c.locked[name] = raw
			continue
		}
		if row.check != nil {
			if err := row.check(raw); err != nil {
				return c, api.Badf("%s %v", name, err)
			}
		}
		c.values[name] = raw
	}
	return c, nil
}

// Names lists the fields that the change sets, sorted.
func (c Change) Names() []string { return slices.Sorted(maps.Keys(c.values)) }

// Has says whether the change sets a field.
func (c Change) Has(name string) bool { return c.values[name] != nil }

// Rows lists the rows of the fields that the change sets, sorted by name.
func (c Change) Rows() []Field {
	var out []Field
	for _, name := range c.Names() {
		if row, ok := c.table.Find(name); ok {
			out = append(out, row)
		}
	}
	return out
}

// Take decodes a field into out and takes it out of the change. It says whether it was there.
func (c Change) Take(name string, out any) (bool, error) {
	raw, ok := c.values[name]
	if !ok {
		return false, nil
	}
	delete(c.values, name)
	if err := json.Unmarshal(raw, out); err != nil {
		return true, api.Badf("%s cannot be read", name)
	}
	return true, nil
}

// Without is the change without the fields that it would set to what current holds already, as from
// a client that sends back the whole record. Current is a record. Of two fields that are set
// together both go or none.
func (c Change) Without(current any) (Change, error) {
	have, err := object(current)
	if err != nil {
		return c, err
	}
	out := Change{table: c.table, locked: c.locked, values: map[string]json.RawMessage{}}
	changed := func(name string) bool { return !same(c.values[name], have[name]) }
	for name, raw := range c.values {
		if row, _ := c.table.Find(name); changed(name) || row.With != "" && changed(row.With) {
			out.values[name] = raw
		}
	}
	return out, nil
}

// Locked is an error if the change holds a field that the call cannot set with another value than
// current has: 403 for what only the verified two-factor change may set, else 400.
func (c Change) Locked(current any) error {
	have, err := object(current)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.locked)) {
		if same(c.locked[name], have[name]) {
			continue
		}
		if row, _ := c.table.Find(name); row.Who == ByVerify {
			return api.NewError(api.CodeForbidden, "VerificationNeeded", name+
				" is changed by the user alone, through /g/aaa/two_factor_authenticate/update")
		}
		return api.Badf("unexpected argument: %q cannot be set here", name)
	}
	return nil
}

// Apply sets the fields in the record that into points to.
func (c Change) Apply(into any) error {
	raw, err := json.Marshal(c.values)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("apply change: %w", err)
	}
	return nil
}

func object(v any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	var out map[string]json.RawMessage
	err = json.Unmarshal(raw, &out)
	return out, err
}

// same compares two JSON values, whatever the order in which objects have their names.
func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	if bytes.Equal(x.Bytes(), y.Bytes()) {
		return true
	}
	var v, w any
	return decode(a, &v) && decode(b, &w) && reflect.DeepEqual(v, w)
}

// decode reads JSON with its numbers as they are written.
func decode(raw json.RawMessage, v any) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v) == nil
}

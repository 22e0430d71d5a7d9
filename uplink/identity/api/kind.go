package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the type that a parameter has in the interface.
type Kind int

// The kinds. JSON null stands for the zero value of each.
const (
	Text   Kind = iota // string; a number is taken as its digits
	Flag               // int 1 or 0; true and false are taken too
	Bool               // boolean; 1 and 0 are taken too
	Int                // whole number within 32 bits; a text of digits is taken too
	Texts              // array of string; in a form: repeated, or one JSON array, or one text
	Lists              // array of array of string; in a form: one JSON array
	Object             // JSON object; in a form: its text
	Any                // any JSON value; in a form: its text
)

// As converts the value to JSON of kind k in one spelling: flags are 1 or 0, arrays and objects are
// never null. The error is half a sentence for the caller, without the value.
func (v Value) As(k Kind) (json.RawMessage, error) {
	raw := v.raw
	if raw == nil {
		return v.fromTexts(k)
	}
	if deep(raw) {
		return nil, fmt.Errorf("is nested deeper than %d", maxDepth)
	}
	var x any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&x); err != nil {
		return nil, errors.New("is not JSON")
	}
	return convert(x, k)
}

// maxDepth bounds how deep arrays and objects stand in each other. What is stored stands some
// levels deeper in its record, and must stay below the 10000 at which encoding/json gives up: a
// record that cannot be read harms all who read it.
const maxDepth = 64

// deep says whether valid JSON is nested deeper than maxDepth.
func deep(raw json.RawMessage) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// fromTexts converts what a query or form said.
func (v Value) fromTexts(k Kind) (json.RawMessage, error) {
	for _, t := range v.texts {
		if !utf8.ValidString(t) {
			return nil, errors.New("is not UTF-8")
		}
	}
	switch k {
	case Texts:
		if len(v.texts) == 1 {
			if t := strings.TrimSpace(v.texts[0]); t == "" {
				return json.RawMessage("[]"), nil
			} else if strings.HasPrefix(t, "[") && json.Valid([]byte(t)) {
				return Value{raw: json.RawMessage(t)}.As(k)
			}
		}
		return json.Marshal(v.texts)
	case Lists, Object, Any:
		if len(v.texts) != 1 {
			return nil, errors.New("is given more than once")
		}
		t := strings.TrimSpace(v.texts[0])
		if t == "" {
			t = "null"
		}
		if !json.Valid([]byte(t)) {
			return nil, errors.New("is not JSON")
		}
		return Value{raw: json.RawMessage(t)}.As(k)
	}
	if len(v.texts) != 1 {
		return nil, errors.New("is given more than once")
	}
	if t := v.texts[0]; k == Text || t != "" {
		return convert(t, k)
	}
	return convert(nil, k)
}

// convert turns a decoded JSON value into a kind.
func convert(x any, k Kind) (json.RawMessage, error) {
	switch k {
	case Text:
		t, err := text(x)
		if err != nil {
			return nil, err
		}
		return json.Marshal(t)
	case Flag, Bool:
		return boolean(x, k)
	case Int:
		return integer(x)
	case Texts:
		list, err := texts(x)
		if err != nil {
			return nil, err
		}
		return json.Marshal(list)
	case Lists:
		return lists(x)
	case Object:
		if x == nil {
			return json.RawMessage("{}"), nil
		}
		if _, ok := x.(map[string]any); !ok {
			return nil, errors.New("must be an object")
		}
		return json.Marshal(x)
	case Any:
		return json.Marshal(x)
	}
	return nil, fmt.Errorf("has no kind %d", k)
}

func text(x any) (string, error) {
	switch x := x.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case json.Number:
		return x.String(), nil
	}
	return "", errors.New("must be a string")
}

func boolean(x any, k Kind) (json.RawMessage, error) {
	yes, no := json.RawMessage("1"), json.RawMessage("0")
	if k == Bool {
		yes, no = json.RawMessage("true"), json.RawMessage("false")
	}
	switch fmt.Sprint(x) {
	case "1", "true", "True": // the last is how Python writes one into a form
		return yes, nil
	case "0", "false", "False", "<nil>":
		return no, nil
	}
	return nil, errors.New("must be 1 or 0")
}

func integer(x any) (json.RawMessage, error) {
	if x == nil {
		return json.RawMessage("0"), nil
	}
	t, err := text(x)
	if err != nil {
		return nil, errors.New("must be a whole number")
	}
	n, err := strconv.ParseInt(strings.TrimSpace(t), 10, 64)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return nil, errors.New("must be a whole number")
	}
	return strconv.AppendInt(nil, n, 10), nil
}

func texts(x any) ([]string, error) {
	out := []string{}
	switch x := x.(type) {
	case nil:
		return out, nil
	case string:
		return append(out, x), nil
	case []any:
		for _, e := range x {
			t, err := text(e)
			if err != nil {
				return nil, errors.New("must be an array of strings")
			}
			out = append(out, t)
		}
		return out, nil
	}
	return nil, errors.New("must be an array of strings")
}

func lists(x any) (json.RawMessage, error) {
	out := [][]string{}
	list, ok := x.([]any)
	if x != nil && !ok {
		return nil, errors.New("must be an array of arrays of strings")
	}
	for _, e := range list {
		if _, ok := e.([]any); !ok {
			return nil, errors.New("must be an array of arrays of strings")
		}
		inner, err := texts(e)
		if err != nil {
			return nil, errors.New("must be an array of arrays of strings")
		}
		out = append(out, inner)
	}
	return json.Marshal(out)
}

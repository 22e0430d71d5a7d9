package configs

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// scalar reads a single value: text, a secret, true or false, a number, a duration or a size.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, path, "must be %s, not %s", wanted(v), kindName(n))
		return
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch p := v.Addr().Interface().(type) {
	case *Secret:
		*p = NewSecret(n.Value)
	case *string:
		*p = n.Value
	case *bool:
		switch low := strings.ToLower(n.Value); {
		case quoted || (low != "true" && low != "false"):
			d.wrong(n, path, "%s must be true or false%s", shown(n.Value), unquote(quoted))
		default:
			*p = low == "true"
		}
	case *int:
		i, err := strconv.Atoi(n.Value)
		if err != nil || quoted {
			d.wrong(n, path, "%s must be a whole number%s", shown(n.Value), unquote(quoted))
			return
		}
		*p = i
	case *float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || quoted || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(n.Value, "xXpP_") {
			d.wrong(n, path, "%s must be a number%s", shown(n.Value), unquote(quoted))
			return
		}
		*p = f
	case *time.Duration:
		t, err := ParseDuration(n.Value)
		if err != nil {
			d.wrong(n, path, "%s must be a time with a unit, such as 500ms, 10s, 2h or 7d", shown(n.Value))
			return
		}
		*p = t
	case *Size:
		s, err := ParseSize(n.Value)
		if err != nil {
			d.wrong(n, path, "%v", err)
			return
		}
		*p = s
	default:
		panic(fmt.Sprintf("configs: no decoding for %s at %s", v.Type(), path)) // a field of a new type was added above
	}
}

// wanted names what a key of v's type expects.
func wanted(v reflect.Value) string {
	switch v.Addr().Interface().(type) {
	case *bool:
		return "true or false"
	case *int, *float64:
		return "a number"
	case *time.Duration:
		return "a time such as 10s"
	case *Size:
		return "a size such as 4GiB"
	default:
		return "text"
	}
}

func unquote(quoted bool) string {
	if quoted {
		return ", without quotes"
	}
	return ""
}

var userInfo = regexp.MustCompile(`//.*@`)

// shown is a value for a message: short, in quotes, on one line, and without the user info of a URL
// that landed under a wrong key.
func shown(s string) string {
	return strconv.Quote(printable(userInfo.ReplaceAllString(s, "//***@")))
}

// clean replaces what would spoil a terminal or make a second line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// printable is clean, and short.
func printable(s string) string {
	s = clean(s)
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

package configs

import (
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// hidden stands for what is not shown.
const hidden = "***"

// Redacted is a file's content for eyes that may not see its secrets, whether or not it is a good
// one: values stand only under keys that are known and hold no secret, addresses without user info
// and without the values of their queries, and comments are left out, because people keep old
// passwords there. ok is false where the content is not YAML; nothing of it can be shown then.
func Redacted(content []byte) (text string, ok bool) {
	d := &decoder{file: "x", keys: map[string]place{}, values: map[string]place{}, bad: map[string]bool{}}
	root, ok := d.document(content)
	if !ok {
		return "", false
	}
	if root == nil {
		return "", true
	}
	r := redactor{}
	out, err := yaml.Dump(r.node(root, reflect.TypeFor[Config]()))
	if err != nil || r.nodes > maxNodes {
		return "", false
	}
	return string(out), true
}

type redactor struct{ nodes int }

// node is a copy of n as far as it may be shown, where a value of type t is expected. Aliases are
// filled in.
func (r *redactor) node(n *yaml.Node, t reflect.Type) *yaml.Node {
	if r.nodes++; r.nodes > maxNodes {
		return plain(hidden)
	}
	n = resolve(n)
	switch {
	case isNull(n):
		return plain("null")
	case t == nil || t == reflect.TypeFor[Secret]():
		return plain(hidden)
	case n.Kind == yaml.ScalarNode && t == reflect.TypeFor[TLS]() && n.Value == autoTLS:
		return plain(autoTLS)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		return r.mapping(n, t)
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: n.Style & yaml.FlowStyle}
		for _, c := range n.Content {
			out.Content = append(out.Content, r.node(c, t.Elem()))
		}
		return out
	case n.Kind == yaml.ScalarNode && t.Kind() != reflect.Struct && t.Kind() != reflect.Slice &&
		t.Kind() != reflect.Array:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: shownAddress(n.Value)}
	}
	return plain(hidden)
}

func (r *redactor) mapping(n *yaml.Node, t reflect.Type) *yaml.Node {
	types := map[string]reflect.Type{}
	for key, f := range fieldsOf(reflect.New(t).Elem()) {
		types[key] = f.Type()
	}
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			continue
		}
		name := key.Value
		if _, known := types[name]; !known && name != "<<" {
			name = hidden // it may be a password that lost its key
		}
		out.Content = append(out.Content, plain(name), r.node(n.Content[i+1], types[key.Value]))
	}
	return out
}

func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// telling finds the parts of an address's path in which some cameras want the password.
var telling = regexp.MustCompile(`(?i)pass|pwd|auth|token|key|secret|user`)

// shownAddress is a value without what may be secret in it, if it is an address.
func shownAddress(s string) string {
	if !strings.Contains(s, "//") && !strings.Contains(s, "@") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return hidden
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = "hidden"
	}
	// The path of a web hook is often its secret.
	if telling.MatchString(u.Path) || strings.HasPrefix(u.Scheme, "http") && u.Path != "" && u.Path != "/" {
		u.Path, u.RawPath = "/hidden", ""
	}
	return u.String()
}

// Secrets are all secrets of a configuration in plain text, for those who must make sure that none
// of them is passed on.
func Secrets(c *Config) []string {
	var list []string
	secretsIn(reflect.ValueOf(c).Elem(), &list)
	return list
}

func secretsIn(v reflect.Value, list *[]string) {
	switch {
	case v.Type() == reflect.TypeFor[Secret]():
		if s := v.Interface().(Secret).Reveal(); s != "" {
			*list = append(*list, s)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			secretsIn(v.Field(i), list)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			secretsIn(v.Index(i), list)
		}
	}
}

// DataFolder is bridge.data of a file that may be bad otherwise, as Load would have it: an absolute
// path. It is the default's where the file does not say.
func DataFolder(name string, content []byte) string {
	cfg := Default()
	d := &decoder{file: name, keys: map[string]place{}, values: map[string]place{}, bad: map[string]bool{}}
	if root, ok := d.document(content); ok && root != nil && !isNull(resolve(root)) {
		d.value(root, reflect.ValueOf(cfg).Elem(), "")
	}
	if cfg.Bridge.Data == "" {
		return Default().Bridge.Data
	}
	c := &checker{decoder: d, cfg: cfg, dir: filepath.Dir(name)}
	return c.absolute("bridge.data", cfg.Bridge.Data)
}

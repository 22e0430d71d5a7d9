package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Names of the session in a request.
const (
	sessionParam = "A"
	// CookieSession carries the session id. CookieSessionOld has the same value: clients were seen
	// that keep only the second of the two cookies that the public service sets.
	CookieSession    = "auth_key"
	CookieSessionOld = "videobank_sessionid"
	// CookieDevice marks a device that is trusted after a sign-in with a code.
	CookieDevice = "tfa_key"
	// CookieMark marks a device at which somebody signed in before. It opens nothing.
	CookieMark = "known_device"
)

// Source says where a session id was found.
type Source int

// The sources, in their order of precedence.
const (
	FromNowhere Source = iota
	FromQuery
	FromForm
	FromBody
	FromCookie
)

// Params is the parameters of one request. A name that stands in both the body and the query has
// the body's value. It does not change after Read and may be used from several goroutines.
type Params struct {
	values  map[string]Value
	session string
	source  Source
	device  string
	mark    string
}

// Value is one parameter as it came: texts of a query or form, or JSON.
type Value struct {
	texts []string        // nil if it came as JSON
	raw   json.RawMessage // nil if it came as text
}

// Has says whether a parameter was sent, even if empty.
func (s *Params) Has(name string) bool {
	_, ok := s.values[name]
	return ok
}

// Names lists what was sent, sorted, without the session.
func (s *Params) Names() []string {
	out := make([]string, 0, len(s.values))
	for name := range s.values {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Expect is an error that names the first parameter that is none of those known, 400.
func (s *Params) Expect(known ...string) error {
	for _, name := range s.Names() {
		if !slices.Contains(known, name) {
			return Badf("unexpected argument: %.80q", name)
		}
	}
	return nil
}

// Need is an error that names those of the parameters that are missing or empty, 400.
func (s *Params) Need(names ...string) error {
	var missing []string
	for _, name := range names {
		v, ok := s.values[name]
		if raw, err := v.As(Text); !ok || (err == nil && string(raw) == `""`) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return NewError(CodeArguments, "MissingArgument", "missing arguments: "+strings.Join(missing, ", "))
	}
	return nil
}

// Text is a parameter as a string, "" if it was not sent.
func (s *Params) Text(name string) (string, error) {
	var out string
	err := s.into(name, Text, &out)
	return out, err
}

// Bool is a parameter that is true or false, or 1 or 0; false if it was not sent.
func (s *Params) Bool(name string) (bool, error) {
	var out bool
	err := s.into(name, Bool, &out)
	return out, err
}

// JSON is a parameter converted to a kind, nil if it was not sent.
func (s *Params) JSON(name string, k Kind) (json.RawMessage, error) {
	v, ok := s.values[name]
	if !ok {
		return nil, nil
	}
	raw, err := v.As(k)
	if err != nil {
		return nil, Badf("%s: %v", name, err)
	}
	return raw, nil
}

// into decodes a parameter into out, which is left alone if it was not sent.
func (s *Params) into(name string, k Kind, out any) error {
	raw, err := s.JSON(name, k)
	if err != nil || raw == nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return Badf("%s: %v", name, err)
	}
	return nil
}

// Session is the session id by the order of the sources and where it stood, "" and FromNowhere if
// there is none. An empty value counts as not sent.
func (s *Params) Session() (string, Source) { return s.session, s.source }

// Device is the value of the cookie tfa_key.
func (s *Params) Device() string { return s.device }

// Mark is the value of the cookie of a known device.
func (s *Params) Mark() string { return s.mark }

// cookies fills in what the cookies say. The first of several cookies of a name counts.
func (s *Params) cookies(r *http.Request) {
	first := func(name string) string {
		for _, c := range r.CookiesNamed(name) {
			if c.Value != "" {
				return c.Value
			}
		}
		return ""
	}
	s.device, s.mark = first(CookieDevice), first(CookieMark)
	if s.source != FromNowhere {
		return
	}
	for _, name := range []string{CookieSession, CookieSessionOld} {
		if v := first(name); v != "" {
			s.session, s.source = v, FromCookie
			return
		}
	}
}

// APIKey is the API key of a request: the header Authentication, else Authorization without a
// scheme, without the colon that the older manual appends.
func APIKey(r *http.Request) string {
	key := strings.TrimSpace(r.Header.Get("Authentication"))
	if key == "" {
		key = strings.TrimSpace(r.Header.Get("Authorization"))
		if strings.Contains(key, " ") {
			return ""
		}
	}
	return strings.TrimSuffix(key, ":")
}

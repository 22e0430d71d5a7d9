package camera

import (
	"strings"
	"sync"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
)

// signIn stands between the RTSP client and a camera where credentials are concerned: it takes away
// the challenges that must not be answered, completes the answers that the client gives, and
// remembers how it went. It never sees a password. Its methods are called by the RTSP client's
// goroutine and by ours.
type signIn struct {
	username string
	basic    bool // Basic may be answered

	mu     sync.Mutex
	out    signInOutcome
	opaque string // of the camera's challenge
}

// watchSignIn is for one session of that user. basic permits to send the password in clear text,
// which the client does then.
func watchSignIn(username string, basic bool) *signIn {
	return &signIn{username: username, basic: basic}
}

// signInOutcome is what a session knows of its sign-in.
type signInOutcome struct {
	OnlyBasic bool   // the camera wants the password in clear text, which is not allowed here
	Unknown   bool   // ... or asks in a way that we do not know
	Accepted  bool   // it accepted the credentials at least once
	Method    string // "basic" or "digest", what was sent; "": nothing
}

// Outcome is what is known by now.
func (s *signIn) Outcome() signInOutcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}

// Response looks at a response and takes out the challenges that must not be answered. A man in the
// middle who removes the digest challenge gets no password: with Basic removed as well, the client
// has nothing to answer.
func (s *signIn) Response(res *base.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if res.StatusCode != base.StatusUnauthorized {
		if s.out.Method != "" && res.StatusCode < 400 {
			s.out.Accepted = true
		}
		return
	}
	if s.out.Method != "" {
		return // the answer to our credentials, with or without another challenge
	}
	var keep base.HeaderValue
	basic, known := false, false
	for _, v := range res.Header["WWW-Authenticate"] {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		switch strings.ToLower(scheme) {
		case "digest":
			known = true
			keep = append(keep, "Digest "+rest)
			if o, ok := quotedParam(rest, "opaque"); ok {
				s.opaque = o
			}
		case "basic":
			basic = true
			if s.basic {
				known = true
				keep = append(keep, "Basic "+rest)
			}
		}
	}
	s.out.OnlyBasic = basic && !known
	s.out.Unknown = !basic && !known
	if keep == nil {
		delete(res.Header, "WWW-Authenticate")
		return
	}
	res.Header["WWW-Authenticate"] = keep
}

// Request completes the Authorization header that the client made: it neither escapes the user name
// nor returns the opaque value (RFC 7616 §3.4: it must be returned unchanged).
func (s *signIn) Request(req *base.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := req.Header["Authorization"]
	if len(h) != 1 {
		return
	}
	if strings.HasPrefix(h[0], "Basic ") {
		s.out.Method = "basic"
		return
	}
	s.out.Method = "digest"
	user := s.username
	if escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(user); escaped != user {
		h[0] = strings.Replace(h[0], `username="`+user+`"`, `username="`+escaped+`"`, 1)
	}
	if s.opaque != "" && !strings.Contains(h[0], `opaque="`) {
		h[0] += `, opaque="` + s.opaque + `"`
	}
}

// quotedParam finds name="value" in a challenge.
func quotedParam(challenge, name string) (string, bool) {
	lower := strings.Map(func(r rune) rune { // not ToLower, which may change the length
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(challenge, "?"))
	challenge = strings.ToValidUTF8(challenge, "?")
	for from := 0; ; {
		i := strings.Index(lower[from:], name+`="`)
		if i < 0 {
			return "", false
		}
		i += from
		from = i + len(name) + 2
		if i > 0 && lower[i-1] != ' ' && lower[i-1] != ',' {
			continue
		}
		if end := strings.IndexByte(challenge[from:], '"'); end >= 0 && end < 512 {
			return challenge[from : from+end], true
		}
		return "", false
	}
}

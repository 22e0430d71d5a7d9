package oauth_test

import (
	"sync"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/web"
)

type oauthOptions = oauth.Options

// sender keeps the codes that are sent.
type sender struct {
	mu   sync.Mutex // guards code
	code string
}

func (s *sender) Send(l notify.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = l.Code
	return nil
}

func (s *sender) Can(notify.Channel) bool { return true }

func (s *sender) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

// other4 is another code.
func other4(code string) string {
	if code == "0000" {
		return "0001"
	}
	return "0000"
}

// withCodes puts the real second factor into a fixture.
func withCodes(s *sender) func(*web.Options, *oauth.Options) {
	return func(wo *web.Options, oo *oauth.Options) {
		sessions := session.New(session.Options{Store: wo.Store, Hasher: identitytest.Hasher, Post: s})
		wo.Sessions, oo.Sessions = sessions, sessions
	}
}

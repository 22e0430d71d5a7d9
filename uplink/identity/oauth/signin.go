package oauth

import (
	"errors"
	"net/http"
	"strings"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/session"
)

// pathSignIn takes the forms of the sign-in page. Its query is that of /oauth2/authorize, which
// comes after it.
const pathSignIn = "/oauth2/sign-in"

// signIn is POST /oauth2/sign-in, one step of a sign-in by the page: address and password, then
// where a code is needed how to send it, then the code.
func (s *OAuth) signIn(w http.ResponseWriter, c *call) error {
	if err := s.o.Gate.SameSite(c.r); err != nil {
		return errSite
	}
	a, refused, err := s.asked(c)
	if err != nil {
		return err
	} else if refused != nil {
		return a.back(w, refused, "")
	}
	in, err := c.texts("username", "password", "token", "type", "code", "sms", "email")
	if err != nil {
		return err
	}
	v := view{Username: in[0], Token: in[2], SMS: in[5], Email: in[6]}
	switch {
	case v.Token == "":
		var t session.Ticket
		t, err = s.sessions.Authenticate(c.r.Context(),
			session.Login{Email: in[0], Password: in[1], Device: c.set.Device(), From: c.from})
		if err == nil && t.Factors == nil {
			return s.enter(w, c, a, session.Claim{Token: t.Token}, view{})
		}
		if v.Token = t.Token; t.Factors != nil {
			v.SMS, v.Email = t.Factors.SMS, t.Factors.Email
		}
	case in[3] != "":
		err = s.sessions.SendCode(v.Token, in[3])
		v.Sent = err == nil
	default:
		v.Sent = true
		return s.enter(w, c, a, session.Claim{Token: v.Token, Code: strings.TrimSpace(in[4])}, v)
	}
	return s.step(w, a, v, err)
}

// tooMany refuses a request, people in words of the page.
func (s *OAuth) tooMany(w http.ResponseWriter, c *call) error {
	if c.r.URL.Path != pathSignIn || c.set == nil {
		return errTooMany
	}
	a, refused, err := s.asked(c)
	if err != nil || refused != nil {
		return errTooMany
	}
	w.Header().Set("Retry-After", "60")
	return s.signInPage(w, http.StatusTooManyRequests, a, view{Problem: errTooMany.Description})
}

// enter is the last step: it opens the session and goes on to what was asked for.
func (s *OAuth) enter(w http.ResponseWriter, c *call, a asking, claim session.Claim, v view) error {
	claim.Device, claim.Mark, claim.Agent, claim.From = c.set.Device(), c.set.Mark(), c.r.UserAgent(), c.from
	o, err := s.sessions.Authorize(c.r.Context(), claim)
	if err != nil {
		return s.step(w, a, v, err)
	}
	c.right = true
	s.o.Gate.SignedIn(w, c.r, o)
	w.Header().Set("Location", "authorize?"+a.query.Encode())
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// step shows the next step, or the same one with what was wrong.
func (s *OAuth) step(w http.ResponseWriter, a asking, v view, err error) error {
	code := http.StatusOK
	var why *api.Error
	if errors.As(err, &why) {
		v.Problem = why.Message
		if code = why.Code; code >= 460 { // no codes of HTTP
			code = http.StatusForbidden
		}
		if why.Reason == "InvalidToken" || code == http.StatusTooManyRequests {
			v = view{Username: v.Username, Problem: v.Problem} // the sign-in is over
		}
	} else if err != nil {
		return err
	}
	return s.signInPage(w, code, a, v)
}

func (s *OAuth) signInPage(w http.ResponseWriter, code int, a asking, v view) error {
	return s.page(w, code, a, "sign-in", v)
}

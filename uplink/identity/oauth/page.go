package oauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// view is what a page shows. What others wrote is escaped by the template and holds no invisible
// characters.
type view struct {
	Query   template.URL // of the request for a code
	Problem string

	// Of the sign-in page.
	Username, Token, SMS, Email string
	Sent                        bool // a code is under way

	// Of the consent page.
	Client, Maker, Where, User, Account, Proof string
	Scopes                                     []string
}

// Code reports whether the sign-in waits for a code.
func (v view) Code() bool { return v.Token != "" }

// meaning says scopes in plain words.
var meaning = map[string]string{
	identity.ScopeRead:   "see your cameras, events and pictures",
	identity.ScopeReport: "report events in your name",
	identity.ScopeAll:    "do everything that you may do with cameras and events",
}

// question is the page that asks a user for consent.
func question(tx *store.Tx, me session.Caller, a asking) (*view, error) {
	maker, err := tx.Account(a.client.AccountID)
	if err != nil {
		return nil, err
	}
	v := &view{Client: visible(a.client.Name), Maker: visible(maker.Name), Where: where(a.to),
		User: visible(me.User.Email), Account: visible(me.Active.Name)}
	for _, s := range a.Scopes {
		v.Scopes = append(v.Scopes, meaning[s])
	}
	return v, nil
}

// where says in words to whom the browser goes next.
func where(to *url.URL) string {
	switch {
	case to.Scheme == "https":
		return visible(to.Host)
	case to.Scheme == "http":
		return "a program on this device"
	}
	return "the app " + visible(to.Scheme)
}

// visible is a text without what cannot be seen, such as marks that turn the direction of writing.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// style has the colours and shapes of the page's (agent/web/files/page.css), light and dark.
const style = `:root{color-scheme:light dark}*{box-sizing:border-box}
body{font:16px/1.45 system-ui,sans-serif;margin:0;padding:0 1rem;background:light-dark(#f6f7f9,#14171b);color:light-dark(#1a1e24,#e8eaed)}
main{max-width:24rem;margin:8vh auto 0;padding:1.25rem;background:light-dark(#fff,#1d2127);border:1px solid light-dark(#d5d9df,#373d46);
border-radius:10px;overflow-wrap:anywhere}h1{font-size:1.3rem;margin:.25rem 0 .5rem}label{display:grid;gap:.2rem;margin:.5rem 0}
input,button{font:inherit;color:inherit;padding:.45rem .75rem;min-height:2.5rem;border:1px solid light-dark(#d5d9df,#373d46);border-radius:6px;
background:light-dark(#fff,#1d2127)}button{width:100%;margin-top:.5rem;background:light-dark(#eceff3,#2a3038);cursor:pointer}
button:first-of-type{background:#14558f;border-color:#14558f;color:#fff}button:hover{border-color:light-dark(#14558f,#8cc2f5)}
:focus-visible{outline:3px solid light-dark(#14558f,#8cc2f5);outline-offset:2px}.problem{color:light-dark(#b3141f,#ff8d87)}`

// pages are plain HTML without script.
var pages = template.Must(template.New("").Parse(`{{define "head"}}<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.}}</title>
<style>` + style + `</style></head><body><main><h1>{{.}}</h1>{{end}}
{{define "sign-in"}}{{template "head" "Sign in"}}
{{with .Problem}}<p class="problem" role="alert">{{.}}</p>{{end}}
<form method="post" action="sign-in?{{.Query}}">
{{if not .Code}}<label>E-mail address <input name="username" type="email" autocomplete="username" value="{{.Username}}" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
{{else}}<input type="hidden" name="token" value="{{.Token}}"><input type="hidden" name="sms" value="{{.SMS}}"><input type="hidden" name="email" value="{{.Email}}">
{{if .Sent}}<label>The code that was sent to you <input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="4" required autofocus></label>
<button>Go on</button>
{{else}}<p>This sign-in needs a code. Have it sent to you:</p>
<button name="type" value="email">by mail to {{.Email}}</button><button name="type" value="sms">by SMS to {{.SMS}}</button>
{{end}}{{end}}</form></main></body></html>{{end}}
{{define "consent"}}{{template "head" "Let an application in?"}}
<p><strong>{{.Client}}</strong>, registered by {{.Maker}}, asks to act for you, {{.User}}, in the account {{.Account}}. It could:</p>
<ul>{{range .Scopes}}<li>{{.}}</li>{{end}}</ul>
<p>You go on to <strong>{{.Where}}</strong>. You can take this back at any time.</p>
<form method="post" action="authorize?{{.Query}}"><input type="hidden" name="proof" value="{{.Proof}}">
<button name="decision" value="allow">Allow</button><button name="decision" value="deny">Do not allow</button></form></main></body></html>{{end}}
`))

var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

// source is an address as a policy may name it.
var source = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:(//[A-Za-z0-9.:\[\]-]+)?$`)

// page writes a page. Its forms go to this service, which may send the browser on to the client
// only.
func (s *OAuth) page(w http.ResponseWriter, code int, a asking, name string, v view) error {
	v.Query = template.URL(a.query.Encode()) //nolint:gosec // as url.Values writes it
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		return err
	}
	next := a.to.Scheme + ":"
	if a.to.Host != "" {
		next += "//" + a.to.Host
	}
	if !source.MatchString(next) {
		next = ""
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleHash+"'; form-action 'self' "+next+
		"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // else a browser does not say that the form is of this site
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client may be gone
	return nil
}

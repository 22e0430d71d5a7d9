package notify

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/template"
)

// gateway carries short messages to a service that takes them over HTTP.
type gateway struct {
	method  string
	url     *template.Template
	header  map[string]*template.Template
	body    *template.Template
	success []int
	secret  string
	client  *http.Client
	pages   Pages
}

// smsFields is what the templates of a gateway see.
type smsFields struct{ To, Text, Secret string }

// functions put values into the places of a request.
var functions = template.FuncMap{
	"json": func(s string) (string, error) {
		raw, err := json.Marshal(s)
		return string(raw), err
	},
	"query": url.QueryEscape,
}

func newGateway(s SMSSettings, pages Pages) (*gateway, error) {
	g := &gateway{method: s.Method, header: map[string]*template.Template{}, success: s.Success, secret: s.secret,
		pages: pages}
	if g.method == "" {
		g.method = http.MethodPost
	}
	roots, err := certificates(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("sms.ca_file: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	g.client = &http.Client{Transport: transport, Timeout: s.Timeout.or(defaultTimeout),
		// A redirect would take the secret to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if g.url, err = compile("sms.url", s.URL); err != nil {
		return nil, err
	}
	if g.body, err = compile("sms.body", s.Body); err != nil {
		return nil, err
	}
	for name, value := range s.Header {
		if g.header[name], err = compile("sms.header."+name, value); err != nil {
			return nil, err
		}
	}
	r, err := g.request(context.Background(), smsFields{To: "+15125550100", Text: "test", Secret: "x"})
	if err != nil {
		return nil, err
	}
	if r.URL.Host == "" || r.URL.Scheme != "https" && r.URL.Scheme != "http" {
		return nil, errors.New("sms.url must begin with https:// or http://")
	}
	return g, nil
}

func compile(key, text string) (*template.Template, error) {
	t, err := template.New(key).Funcs(functions).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return t, nil
}

// request fills the templates in. Its errors name no value.
func (g *gateway) request(ctx context.Context, m smsFields) (*http.Request, error) {
	var target, body strings.Builder
	if err := g.url.Execute(&target, m); err != nil {
		return nil, fmt.Errorf("sms.url: %w", err)
	}
	if err := g.body.Execute(&body, m); err != nil {
		return nil, fmt.Errorf("sms.body: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, g.method, target.String(), strings.NewReader(body.String()))
	if err != nil {
		return nil, errors.New("sms.url and sms.method do not make a request")
	}
	for name, t := range g.header {
		var v strings.Builder
		if err := t.Execute(&v, m); err != nil {
			return nil, fmt.Errorf("sms.header.%s: %w", name, err)
		}
		r.Header.Set(name, v.String())
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	return r, nil
}

// maxReply is how much of an answer is read, so that the connection can be used again.
const maxReply = 64 << 10

// send hands a short message to the gateway. What the gateway answers is not repeated: it may hold
// the message.
func (g *gateway) send(ctx context.Context, l Message) error {
	_, text, err := g.pages.write(l)
	if err != nil {
		return refusal{err}
	}
	r, err := g.request(ctx, smsFields{To: l.To, Text: text, Secret: g.secret})
	if err != nil {
		return refusal{err}
	}
	res, err := g.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address may hold the message and the secret
		}
		return fmt.Errorf("reach SMS gateway: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxReply))
	if slices.Contains(g.success, res.StatusCode) || len(g.success) == 0 && res.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("the SMS gateway answers %d", res.StatusCode)
	switch res.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusGone:
		return refusal{err} // this number or text will not do later either
	}
	return err
}

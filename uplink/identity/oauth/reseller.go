package oauth

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// PathReseller is where a reseller's user gets a token for a sub-account. It is of /api/v3.0: the
// bearer token is in the header, and errors have the form of that interface.
const PathReseller = "/api/v3.0/authorizationTokens"

// maxResellerBody bounds the body, in bytes.
const maxResellerBody = 16 << 10

// wanted is the body of POST /authorizationTokens.
type wanted struct {
	Type       string   `json:"type"`       // "reseller"
	TargetType string   `json:"targetType"` // "account"
	TargetID   string   `json:"targetId"`
	Scopes     []string `json:"scopes"` // those of the caller's token if left out
}

// made is the answer.
type made struct {
	AccessToken string      `json:"accessToken"`
	Expires     vms.Time    `json:"expireTimestamp"`
	Scopes      []string    `json:"scopes"`
	BaseURL     vms.BaseURL `json:"httpsBaseUrl"`
}

// anyOrigin lets the pages of any origin ask: nothing here is let in by a cookie.
func anyOrigin(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", allow)
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	}
}

// reseller is POST /api/v3.0/authorizationTokens.
func (s *OAuth) reseller(w http.ResponseWriter, r *http.Request) error {
	out, err := s.resell(w, r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, out)
}

// failReseller writes an error in the form of /api/v3.0.
func (s *OAuth) failReseller(w http.ResponseWriter, r *http.Request, _ string, err error) {
	var e *vms.Error
	var method *route.MethodError
	switch {
	case errors.As(err, &method):
		e = vms.NewError(http.StatusMethodNotAllowed, vms.ReasonMethod, "T"+method.Error()[1:])
	case !errors.As(err, &e):
		if r.Context().Err() != nil {
			return // the client has gone, nobody reads the answer
		}
		s.log.Error("a request could not be answered", "method", r.Method, "path", r.URL.Path, "error", err)
		e = vms.NewError(http.StatusInternalServerError, vms.ReasonUnexpectedError,
			"The server could not answer; its log says why")
	}
	switch e.Code {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="vms"`)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "60")
	}
	_ = answer(w, e.Code, e)
}

var (
	errBearer = vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
		"The client caller does not have a valid authentication credential")
	errMachine = vms.NewError(http.StatusForbidden, vms.ReasonPermission,
		"Only a user's token may be exchanged for one of another account")
)

// resell makes the token. It is for the same user in the other account, may do no more than the
// token that it is made from, and ends with that one.
func (s *OAuth) resell(w http.ResponseWriter, r *http.Request) (out made, err error) {
	from := s.o.Gate.Client(r)
	_, right, ok, err := s.o.Gate.Allow(r, "")
	if err != nil {
		return out, err
	} else if !ok {
		return out, vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany,
			"Too many requests; try again in a minute")
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return out, errBearer
	}
	text = strings.TrimSpace(text)
	// 401 stands before all that is wrong with the body.
	if err := s.store.View(func(tx *store.Tx) error { _, _, err := s.bearer(tx, text, from); return err }); err != nil {
		return out, err
	}
	in, err := readWanted(w, r)
	if err != nil {
		return out, err
	}
	err = s.store.Update(func(tx *store.Tx) error {
		p, parent, err := s.bearer(tx, text, from)
		if err != nil {
			return err
		}
		t, err := derive(tx, p, parent, in)
		if err != nil {
			return err
		}
		if t, out.AccessToken, err = join(tx, t); err != nil {
			return err
		}
		out.Expires, out.Scopes = vms.At(t.Expires), t.Scopes
		return tx.Record(model.AuditEntry{AccountID: t.AccountID, By: p.User.ID, ByName: p.User.Email,
			From: model.Address(from), Action: model.AuditCreate, Kind: model.KindToken, Target: t.ID, Name: t.Name})
	})
	if err == nil {
		right()
	}
	out.BaseURL = vms.BaseOf(s.here(r))
	return out, err
}

// bearer is who asks.
func (s *OAuth) bearer(tx *store.Tx, text string, from netip.Addr) (identity.Principal, model.Token, error) {
	p, t, err := tx.Bearer(text)
	if errors.Is(err, identity.ErrUnknown) || err == nil && !p.From(from) {
		err = errBearer
	}
	return p, t, err
}

// derive is the token for another account that is made from parent.
func derive(tx *store.Tx, p identity.Principal, parent model.Token, in wanted) (model.Token, error) {
	if parent.UserID == "" {
		return model.Token{}, errMachine
	}
	none := vms.NotFound("accounts", "There is no such account among the caller's", in.TargetID)
	u, err := tx.User(parent.UserID)
	if err != nil {
		return model.Token{}, err
	}
	target, err := tx.Account(in.TargetID)
	if errors.Is(err, identity.ErrNotFound) {
		return model.Token{}, none
	} else if err != nil {
		return model.Token{}, err
	}
	if _, err := tx.Principal(u, target); errors.Is(err, identity.ErrUnknown) {
		return model.Token{}, none
	} else if err != nil {
		return model.Token{}, err
	}
	var refused *Error
	scopes, err := scope(strings.Join(in.Scopes, " "), identity.ScopesOf(p.Kind, p.Scopes))
	if errors.As(err, &refused) {
		return model.Token{}, vms.BadRequest([]vms.Problem{{Argument: "scopes", Reason: vms.ReasonValue,
			Text: "must be among those of the token"}})
	} else if err != nil {
		return model.Token{}, err
	}
	t := model.Token{Kind: identity.KindUser, AccountID: target.ID, UserID: u.ID, Name: parent.Name, Scopes: scopes,
		Cameras:  parent.Cameras,
		ClientID: parent.ClientID, Family: cmp.Or(parent.Family, newFamily()),
		Parent: cmp.Or(parent.Parent, parent.ID), Expires: tx.Now().Add(accessTime)}
	if !parent.Expires.IsZero() && parent.Expires.Before(t.Expires) {
		t.Expires = parent.Expires
	}
	t.Expires = t.Expires.Truncate(time.Millisecond) // as it is told
	return t, nil
}

// readWanted reads the body. Errors are *vms.Error.
func readWanted(w http.ResponseWriter, r *http.Request) (in wanted, err error) {
	if ct := r.Header.Get("Content-Type"); ct != "" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			return in, vms.NewError(http.StatusUnsupportedMediaType, vms.ReasonContent,
				"Unsupported content type, should be: `application/json`")
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxResellerBody))
	if err != nil {
		return in, vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge,
			"The body is too large or could not be read to its end")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return in, vms.NewError(http.StatusBadRequest, vms.ReasonJSON, "Invalid JSON")
	}
	var problems []vms.Problem
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"type", "targetType", "targetId", "scopes"}, name) {
			problems = append(problems, vms.Problem{Argument: fmt.Sprintf("%.80s", name), Reason: vms.ReasonUnexpected})
		}
	}
	for _, name := range []string{"type", "targetType", "targetId"} {
		if fields[name] == nil {
			problems = append(problems, vms.Problem{Argument: name, Reason: vms.ReasonMissing})
		}
	}
	if len(problems) > 0 {
		return in, vms.BadRequest(problems)
	}
	bad := func(name, text string) error {
		return vms.BadRequest([]vms.Problem{{Argument: name, Reason: vms.ReasonValue, Text: text}})
	}
	switch {
	case json.Unmarshal(body, &in) != nil:
		return in, bad("body", "holds a value of another type")
	case in.Type != "reseller":
		return in, bad("type", "must be reseller")
	case in.TargetType != "account":
		return in, bad("targetType", "must be account")
	case in.TargetID == "":
		return in, bad("targetId", "must not be empty")
	}
	return in, nil
}

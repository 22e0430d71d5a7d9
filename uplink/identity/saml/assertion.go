package saml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
)

// bearer is the only way to confirm a subject that a browser can (SAML-Profiles 4.1.4.2).
const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer"

var errRequest = errors.New("it answers a request, and this service makes none: sign-ins begin at the provider")

// check holds a verified assertion to SAML-Profiles 4.1.4.3: made out to this service, by one
// provider, for this moment.
func (d *ServiceProvider) check(m *message, signed *etree.Element) (saml.Assertion, error) {
	var a saml.Assertion
	if err := decode(signed, &a); err != nil {
		return a, fmt.Errorf("read assertion: %w", err)
	}
	now := d.store.Now()
	return a, errors.Join(d.checkHead(m.head, a, now), checkTime(a, now), d.checkAudience(signed),
		d.checkSubject(a, now))
}

// checkHead checks the response around the assertion. It may be unsigned, so that this can only
// refuse.
func (d *ServiceProvider) checkHead(r saml.Response, a saml.Assertion, now time.Time) error {
	switch {
	case r.Version != "2.0" || a.Version != "2.0":
		return errors.New("it is not of SAML 2.0")
	case r.Status.StatusCode.Value != saml.StatusSuccess:
		return fmt.Errorf("the provider says %.80q", r.Status.StatusCode.Value)
	case r.Destination != "" && r.Destination != d.consumer, r.Destination == "" && r.Signature != nil:
		return fmt.Errorf("its destination is %.200q, not %s", r.Destination, d.consumer)
	case r.Issuer != nil && r.Issuer.Value != a.Issuer.Value:
		return errors.New("response and assertion have different issuers")
	case r.InResponseTo != "":
		return errRequest
	case strings.TrimSpace(a.Issuer.Value) == "" || a.ID == "":
		return errors.New("it has no issuer or no id")
	case stale(r.IssueInstant, now) || stale(a.IssueInstant, now):
		return errors.New("it was not made just now; are both clocks right?")
	}
	return nil
}

func stale(t, now time.Time) bool { return t.Before(now.Add(-fresh)) || t.After(now.Add(skew)) }

func checkTime(a saml.Assertion, now time.Time) error {
	c := a.Conditions
	switch {
	case c == nil || c.NotOnOrAfter.IsZero():
		return errors.New("it has no conditions of time")
	case !c.NotBefore.IsZero() && now.Add(skew).Before(c.NotBefore):
		return errors.New("it is not valid yet; are both clocks right?")
	case !now.Add(-skew).Before(c.NotOnOrAfter):
		return errors.New("it has expired; are both clocks right?")
	case len(a.AuthnStatements) == 0:
		return errors.New("it does not say that anyone signed in")
	}
	for _, s := range a.AuthnStatements {
		if s.SessionNotOnOrAfter != nil && !now.Add(-skew).Before(*s.SessionNotOnOrAfter) {
			return errors.New("the session at the provider has ended")
		}
	}
	return nil
}

// checkAudience wants this service named in each restriction, and one restriction at least
// (SAML-Core 2.5.1.4). It reads the element, since the library's record holds one audience of each.
func (d *ServiceProvider) checkAudience(signed *etree.Element) error {
	restrictions := 0
	for _, conditions := range signed.ChildElements() {
		if conditions.Tag != "Conditions" {
			continue
		}
		for _, r := range conditions.ChildElements() {
			if r.Tag != "AudienceRestriction" {
				continue
			}
			named := false
			for _, audience := range r.ChildElements() {
				named = named || audience.Tag == "Audience" && strings.TrimSpace(audience.Text()) == d.audience
			}
			if restrictions++; !named {
				return fmt.Errorf("it is made out to another audience than %s", d.audience)
			}
		}
	}
	if restrictions == 0 {
		return errors.New("it does not say for which audience it is")
	}
	return nil
}

// The ways to sign in that are of two factors by their definition: those of SAML-AuthnContext 3.4,
// the REFEDS profile, and what the largest providers write.
var twoFactors = []string{
	"urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorUnregistered",
	"urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract",
	"urn:oasis:names:tc:SAML:2.0:ac:classes:SmartcardPKI",
	"https://refeds.org/profile/mfa",
	multipleAuthn,
}

// Entra ID and AD FS name the password as the context and say in an attribute which further methods
// there were.
const (
	multipleAuthn = "http://schemas.microsoft.com/claims/multipleauthn"
	methods       = "http://schemas.microsoft.com/claims/authnmethodsreferences"
)

// multiFactor says whether a verified assertion tells of a sign-in with more than one factor.
func multiFactor(a saml.Assertion) bool {
	for _, s := range a.AuthnStatements {
		if ref := s.AuthnContext.AuthnContextClassRef; ref != nil &&
			slices.Contains(twoFactors, strings.TrimSpace(ref.Value)) {
			return true
		}
	}
	for _, s := range a.AttributeStatements {
		for _, attr := range s.Attributes {
			if attr.Name == methods && slices.ContainsFunc(attr.Values,
				func(v saml.AttributeValue) bool { return strings.TrimSpace(v.Value) == multipleAuthn }) {
				return true
			}
		}
	}
	return false
}

// checkSubject wants one confirmation that a browser may bring here and now. Sign-ins begin at the
// provider: an answer to a request is an answer to somebody else's.
func (d *ServiceProvider) checkSubject(a saml.Assertion, now time.Time) error {
	if a.Subject == nil {
		return errors.New("it has no subject")
	}
	why := errors.New("it has no bearer confirmation")
	for _, c := range a.Subject.SubjectConfirmations {
		data := c.SubjectConfirmationData
		switch {
		case c.Method != bearer || data == nil:
		case data.Recipient != d.consumer:
			why = fmt.Errorf("its recipient is %.200q, not %s", data.Recipient, d.consumer)
		case data.NotOnOrAfter.IsZero() || !now.Add(-skew).Before(data.NotOnOrAfter):
			why = errors.New("its confirmation has expired; are both clocks right?")
		case !data.NotBefore.IsZero():
			why = errors.New("its confirmation must not have a NotBefore")
		case data.InResponseTo != "":
			why = errRequest
		default:
			return nil
		}
	}
	return why
}

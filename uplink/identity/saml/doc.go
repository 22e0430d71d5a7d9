// Package saml checks what an identity provider says about a user: a SAML 2.0 response, against the certificate and the
// name-id path that the provider's account registered. identity/web makes a session of the user that it names.
package saml

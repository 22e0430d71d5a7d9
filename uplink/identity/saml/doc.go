// Package saml checks what an identity provider says about a user: a SAML 2.0 response, against the
// certificate and the name-id path that the provider's account registered. identity/web makes a
// session of the user that it names.
//
// Only what the certificate signed is ever looked at: the signature library gives back the bytes
// that it verified, and the address is read from those. Before that, a message of a form that only
// attacks have is refused whole: a document type, a comment, a second assertion, an element or a
// signature in a place of its own (SAML-Core, and Somorovsky et al., "On Breaking SAML", 2012). An
// assertion opens one session and no second one, also across a restart.
//
// An account speaks for its own users alone: what B's provider signed signs nobody of A in.
//
// The interface's document is silent on the second factor of this service. Whoever has one gives it
// after the provider's message too, since the account or the user asked for it here, unless the
// signed assertion says that the provider asked for two factors itself. And where the interface
// says that the certificate decrypts the message, this takes it to mean what a public certificate
// can do: check that its owner made the message.
//
//	sp, err := saml.New(saml.Options{Store: ids, BaseURL: "https://login.example.org"})
//	user, twoFactors, err := sp.User(ctx, r.PostFormValue("SAMLResponse"))
package saml

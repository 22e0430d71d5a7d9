package configs

import (
	"fmt"
	"log/slog"
)

// Secret is a password or a token. Whatever prints it, fmt with any verb, slog, JSON or YAML, shows
// *** (or nothing for the empty one); only Reveal gives it away. It points to its text so that fmt,
// which cannot call methods on fields that are not exported, prints an address there and not the
// secret. The zero value is the empty secret. Compare by Reveal.
type Secret struct{ text *string }

// NewSecret wraps s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal is the secret itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// String is *** or empty.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return "***"
}

// Format prints String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue logs String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText makes JSON and other encoders write String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML writes String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

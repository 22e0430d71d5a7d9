package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// Saved is what a sign-in left: everything in it that is not an address or a name is a secret.
// Which of the three ways it is follows from what is set: Session, else Refresh, else Secret alone.
type Saved struct {
	// Door is the address where tokens are asked for: that of the service, or its branded host.
	Door string `json:"door"`
	// Base is where /api/v3.0 is, as the last token's answer said; "" for Door.
	Base string `json:"base,omitempty"`
	// User is who signed in, for people.
	User string `json:"user,omitempty"`
	// Key is the API key that every call carries, "" for none.
	Key string `json:"apiKey,omitempty"`
	// Session and Device are the cookies auth_key and tfa_key.
	Session string `json:"session,omitempty"`
	Device  string `json:"device,omitempty"`
	// Client and Secret are those of an OAuth client.
	Client string `json:"clientId,omitempty"`
	Secret string `json:"clientSecret,omitempty"`
	// Refresh is the refresh token that is exchanged next.
	Refresh string `json:"refreshToken,omitempty"`
	// Access is the token in use, and when it is to be renewed.
	Access string    `json:"accessToken,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// ErrNone says that nobody has signed in: there is no file.
var ErrNone = errors.New("nobody has signed in")

// maxSaved bounds the file, in bytes.
const maxSaved = 1 << 20

// Load reads the file that a sign-in left; ErrNone if there is none.
func Load(path string) (Saved, error) {
	var s Saved
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, ErrNone
	case err != nil:
		return s, fmt.Errorf("read sign-in: %w", err)
	case len(raw) > maxSaved || json.Unmarshal(raw, &s) != nil || s.Door == "" || s.Session == "" && s.Refresh == "" &&
		s.Secret == "":
		return Saved{}, fmt.Errorf("read sign-in: %s does not hold one; sign in again with: vmsbridge login", path)
	}
	return s, nil
}

// Keep replaces the file by s, readable by its owner only. It is on the disk when Keep returns,
// whole, or the former one is.
func (s Saved) Keep(path string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep sign-in: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = vfs.Replace(path, append(raw, '\n'), 0o600, -1, -1)
	}
	if err != nil {
		return fmt.Errorf("keep sign-in: %w", err)
	}
	return nil
}

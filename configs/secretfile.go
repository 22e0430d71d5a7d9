package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// maxSecret is the largest secret file that is read, in bytes.
const maxSecret = 64 << 10

// secret settles a key and its _file twin: both is a problem, and the file is read. What a file
// that cannot be read is called is said only if it looks like a path, because people write the
// password itself there. ${NAME} as the whole secret, or as the beginning of the file's path, is
// the environment's: so systemd hands its credentials over.
func (c *checker) secret(path string, s Secret, name string) (Secret, string) {
	fileKey := path + "_file"
	if !c.given(fileKey) || c.bad[fileKey] {
		fromEnvironment := variable.MatchString(s.Reveal())
		switch s = c.expand(path, s); {
		case c.bad[path]:
		case c.given(path) && s.IsZero():
			c.fault(path, "is empty")
		case strings.ContainsFunc(s.Reveal(), unicode.IsControl):
			c.fault(path, "holds a line break or another control character")
		case c.given(path) && !fromEnvironment && c.open:
			c.warn(path, "every user of this machine may read this file, and secrets stand in it, this one the "+
				"first; run chmod o= on the file, or write %s", lastKey(fileKey))
			c.open = false // once is enough
		}
		return s, ""
	}
	if c.given(path) {
		c.keyFault(fileKey, "stands beside %s; write only one of them", lastKey(path))
		return s, ""
	}
	name, ok := c.inEnvironment(fileKey, name)
	abs := c.absolute(fileKey, name)
	if !ok || abs == "" {
		return s, ""
	}
	called := "the file named here"
	if strings.ContainsRune(name, '/') {
		called = clean(abs)
	}
	text, mode, err := readSecret(abs)
	if err != nil {
		c.keyFault(fileKey, "cannot read %s: %v", called, err)
		return s, ""
	}
	if mode&0o007 != 0 {
		c.warn(fileKey, "every user of this machine may read %s; run chmod o= on it", called)
	}
	return NewSecret(text), abs
}

// variable is a secret that the environment has.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// expand takes a secret from the environment if it says so. Its name is not repeated: it may be a
// password that looks like one.
func (c *checker) expand(path string, s Secret) Secret {
	m := variable.FindStringSubmatch(s.Reveal())
	if m == nil {
		return s
	}
	text := os.Getenv(m[1])
	if text == "" {
		c.fault(path, "names an environment variable that is not set or empty")
		c.bad[path] = true
	}
	return NewSecret(text)
}

// inEnvironment is a path that may begin with ${NAME}/.
func (c *checker) inEnvironment(key, name string) (string, bool) {
	head, rest, ok := strings.Cut(name, "/")
	m := variable.FindStringSubmatch(head)
	if !ok || m == nil {
		return name, true
	}
	folder := os.Getenv(m[1])
	switch {
	case folder != "":
		return filepath.Join(folder, rest), true
	case m[1] == credentials:
		c.keyFault(key, "$%s is not set; systemd sets it for a unit with LoadCredential=, and to try the file by "+
			"hand, set it to the folder that the service has (/run/credentials/vmsbridge.service)", credentials)
	default:
		c.keyFault(key, "the environment variable %s is not set", m[1])
	}
	return name, false
}

// credentials is the variable with the folder of systemd's credentials (systemd.exec(5),
// LoadCredential=).
const credentials = "CREDENTIALS_DIRECTORY"

// readSecret reads a file's only line. Its errors name neither the file nor what is in it.
func readSecret(name string) (string, fs.FileMode, error) {
	st, err := os.Stat(name)
	if err != nil {
		return "", 0, cause(err)
	}
	if !st.Mode().IsRegular() {
		return "", 0, errors.New("it is not a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", 0, cause(err)
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", 0, cause(err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case len(content) > maxSecret:
		return "", 0, fmt.Errorf("it is larger than %v", Size(maxSecret))
	case text == "":
		return "", 0, errors.New("it is empty")
	case strings.ContainsAny(text, "\r\n"):
		return "", 0, errors.New("it has more than one line")
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", 0, errors.New("it holds a control character")
	}
	return text, st.Mode(), nil
}

// cause is a file error without the file's name.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

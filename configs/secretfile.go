package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
)

// maxSecret is the largest secret file that is read, in bytes.
const maxSecret = 64 << 10

// secret settles a key and its _file twin: both is a problem, and the file is read. What a file that cannot be read is
// called is said only if it looks like a path, because people write the password itself there.
func (c *checker) secret(path string, s Secret, name string) (Secret, string) {
	fileKey := path + "_file"
	if !c.given(fileKey) || c.bad[fileKey] {
		if c.given(path) && s.IsZero() {
			c.fault(path, "is empty")
		} else if strings.ContainsFunc(s.Reveal(), unicode.IsControl) {
			c.fault(path, "holds a line break or another control character")
		}
		return s, ""
	}
	if c.given(path) {
		c.keyFault(fileKey, "stands beside %s; write only one of them", lastKey(path))
		return s, ""
	}
	abs := c.absolute(fileKey, name)
	if abs == "" {
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

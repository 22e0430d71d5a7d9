package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Settings say how messages go out. Both channels may be left out. Secrets stand in files of their
// own: what is read from them is in the unexported fields, which nothing prints.
//
//	mail:
//	  server: smtp.example.org:587
//	  user: cloud
//	  password_file: /etc/vmscloud/smtp-password
//	  from: Cameras <cameras@example.org>
//	sms:
//	  url: https://sms.example.org/v1/messages
//	  header: {Content-Type: application/json, Authorization: "Bearer {{.Secret}}"}
//	  body: '{"to": {{json .To}}, "text": {{json .Text}}}'
//	  success: [200, 202]
//	  secret_file: /etc/vmscloud/sms-token
//	pages:
//	  registration: https://cloud.example.org/validate?id={account}&token={token}
//	  password: https://cloud.example.org/password?token={token}
type Settings struct {
	Mail  *MailSettings `yaml:"mail"`
	SMS   *SMSSettings  `yaml:"sms"`
	Pages Pages         `yaml:"pages"`
}

// MailSettings name an SMTP server.
type MailSettings struct {
	Server string `yaml:"server"` // host:port
	// starttls, tls or none; by the port if empty: tls for 465, starttls for others
	Security     string `yaml:"security"`
	User         string `yaml:"user"`          // "" for a server that asks for no password
	PasswordFile string `yaml:"password_file"` // holds one line
	Auth         string `yaml:"auth"`          // plain, login, cram-md5 or scram-sha-256; plain if empty
	From         string `yaml:"from"`          // address, perhaps with a name before
	// certificates in PEM form that the server's is checked by, "" for the system's
	CAFile  string   `yaml:"ca_file"`
	Helo    string   `yaml:"helo"`    // name that is given to the server, "" for the machine's
	Timeout Duration `yaml:"timeout"` // of one step; 15 s if 0

	password string
}

// SMSSettings describe an HTTP gateway for short messages. URL, the values of Header and Body are
// text/template with the fields To, Text and Secret and the functions json and query, which put a
// value in the form that its place wants.
type SMSSettings struct {
	Method     string            `yaml:"method"` // POST if empty
	URL        string            `yaml:"url"`
	Header     map[string]string `yaml:"header"`
	Body       string            `yaml:"body"`
	Success    []int             `yaml:"success"`     // status codes; every 2xx if empty
	SecretFile string            `yaml:"secret_file"` // holds one line
	CAFile     string            `yaml:"ca_file"`
	Timeout    Duration          `yaml:"timeout"` // 15 s if 0

	secret string
}

// Pages are where the links of messages lead; {account} and {token} are filled in. Without a page
// the message holds the token itself.
type Pages struct {
	Registration string `yaml:"registration"`
	Password     string `yaml:"password"`
}

// Duration is written as in 15s.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return errors.New("a time must be written as in 15s")
	}
	*d = Duration(v)
	return nil
}

// defaultTimeout is for a server that answers at all.
const defaultTimeout = 15 * time.Second

func (d Duration) or(other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return time.Duration(d)
}

// maxSettings bounds files that are read, in bytes.
const maxSettings = 64 << 10

// LoadSettings reads settings from a YAML file, and the files that it names, seen from its folder.
func LoadSettings(path string) (Settings, error) {
	raw, err := read(path)
	if err != nil {
		return Settings{}, fmt.Errorf("read settings of letters %s: %w", path, err)
	}
	s, err := parse(raw, filepath.Dir(path))
	if err != nil {
		return Settings{}, fmt.Errorf("read settings of letters %s: %w", path, err)
	}
	return s, nil
}

// parse reads settings; the files that they name are seen from the folder dir.
func parse(raw []byte, dir string) (Settings, error) {
	var s Settings
	if len(bytes.TrimSpace(raw)) == 0 {
		return s, nil
	}
	if err := yaml.Load(raw, &s, yaml.WithKnownFields()); err != nil {
		return Settings{}, err
	}
	var err error
	if s.Mail != nil {
		s.Mail.CAFile = within(dir, s.Mail.CAFile)
		if s.Mail.password, err = secretIn(within(dir, s.Mail.PasswordFile)); err != nil {
			return Settings{}, fmt.Errorf("mail.password_file: %w", err)
		}
	}
	if s.SMS != nil {
		s.SMS.CAFile = within(dir, s.SMS.CAFile)
		if s.SMS.secret, err = secretIn(within(dir, s.SMS.SecretFile)); err != nil {
			return Settings{}, fmt.Errorf("sms.secret_file: %w", err)
		}
	}
	return s, nil
}

func within(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// secretIn reads a file's only line, "" for no file. Its errors do not tell what is in it.
func secretIn(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	raw, err := read(name)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if text == "" || strings.ContainsFunc(text, unicode.IsControl) {
		return "", errors.New("the file must hold one line")
	}
	return text, nil
}

// read reads a file that is not too large. The error of a file that cannot be opened is without its
// name: people write the password itself there.
func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("open the file: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, errors.New("the file cannot be read")
	}
	if len(raw) > maxSettings {
		return nil, errors.New("the file is too large")
	}
	return raw, nil
}

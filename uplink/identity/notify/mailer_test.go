package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/uplink/identity/identitytest"
)

const mailPassword = "hunter2 of the mail server"

// logged is a log that can be read while it is written.
type logged struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// open runs a Mailer until the test ends.
func open(t *testing.T, s Settings, o MailerOptions) (*Mailer, *logged) {
	t.Helper()
	log := &logged{}
	o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.First == 0 {
		o.First = 10 * time.Millisecond
	}
	mailer, err := NewMailer(s, o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = mailer.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return mailer, log
}

func mailTo(server *identitytest.SMTPServer, security, user, password string) Settings {
	return Settings{Mail: &MailSettings{Server: server.Address(), Security: security, User: user, password: password,
		CAFile: server.CAFile,
		From:   "Kameras <cameras@example.org>", Timeout: Duration(20 * time.Second)}}
}

var reset = Message{Kind: PasswordReset, Channel: Mail, To: "anna@example.org", Name: "Anna",
	Token: "tokentokentoken", AccountID: "a1"}

func TestMailByEachSecurity(t *testing.T) {
	for _, security := range []string{securityStartTLS, securityTLS, securityNone} {
		t.Run(security, func(t *testing.T) {
			user, password := "cloud", mailPassword
			if security == securityNone {
				user, password = "", ""
			}
			server := identitytest.StartSMTP(t, security, user, password)
			s := mailTo(server, security, user, password)
			s.Pages.Password = "https://cloud.example.org/password?token={token}"
			mailer, log := open(t, s, MailerOptions{})
			require.True(t, mailer.Can(Mail))
			require.False(t, mailer.Can(Text))
			require.NoError(t, mailer.Send(reset))
			l := server.Next(t)
			require.Equal(t, []string{"anna@example.org"}, l.To)
			require.Equal(t, "cameras@example.org", l.Sender)
			require.Equal(t, "Set another password", l.Subject)
			require.Contains(t, l.Text, "Hello Anna,")
			require.Contains(t, l.Text, "https://cloud.example.org/password?token=tokentokentoken")
			require.Equal(t, "auto-generated", l.Headers["Auto-Submitted"])
			require.NotEmpty(t, l.Headers["Date"])
			require.Regexp(t, `^<\w{24}@example\.org>$`, l.Headers["Message-ID"])
			require.Equal(t, security != securityNone, l.TLS)
			require.Equal(t, security != securityNone, l.Authenticated)
			require.Eventually(t, func() bool { return strings.Contains(log.String(), "message sent") }, time.Minute,
				5*time.Millisecond)
			require.NotContains(t, log.String(), "tokentoken")
			require.NotContains(t, log.String(), "anna@")
		})
	}
}

func TestMailInJapanese(t *testing.T) {
	server := identitytest.StartSMTP(t, securityNone, "", "")
	mailer, _ := open(t, mailTo(server, securityNone, "", ""), MailerOptions{})
	require.NoError(t, mailer.Send(Message{Kind: Code, Channel: Mail, To: "anna@example.org", Name: "山田",
		Language: "ja", Code: "0042"}))
	l := server.Next(t)
	require.Equal(t, "認証コード", l.Subject)
	require.Contains(t, l.Text, "山田 様")
	require.Contains(t, l.Text, "0042")
}

// What passes is tried again, what does not is given up, and neither holds others up or tells the
// log a secret.
func TestRetriesAndRefusals(t *testing.T) {
	server := identitytest.StartSMTP(t, securityNone, "", "")
	mailer, log := open(t, mailTo(server, securityNone, "", ""), MailerOptions{})
	for _, to := range []string{"refused@example.org", "garbled@example.org", "busy@example.org", "anna@example.org"} {
		l := reset
		l.To = to
		require.NoError(t, mailer.Send(l))
	}
	got := []string{server.Next(t).To[0], server.Next(t).To[0]}
	require.ElementsMatch(t, []string{"anna@example.org", "busy@example.org"}, got)
	require.Eventually(t, func() bool { return strings.Count(log.String(), "a message was refused") == 2 },
		time.Minute, 5*time.Millisecond)
	require.Equal(t, 2, strings.Count(log.String(), "it will be tried again"))
	require.NotContains(t, log.String(), "tokentoken")
	require.NotRegexp(t, `(refused|garbled|busy|anna)@`, log.String())
	require.Zero(t, server.Waiting())
}

func TestWrongMailPasswordIsRetriedAndNotLogged(t *testing.T) {
	server := identitytest.StartSMTP(t, securityStartTLS, "cloud", mailPassword)
	mailer, log := open(t, mailTo(server, securityStartTLS, "cloud", "not "+mailPassword), MailerOptions{})
	require.NoError(t, mailer.Send(reset))
	require.Eventually(t, func() bool { return strings.Count(log.String(), "it will be tried again") >= 2 },
		time.Minute, 5*time.Millisecond)
	require.NotContains(t, log.String(), mailPassword)
	require.Zero(t, server.Waiting())
}

// A server whose certificate nobody vouches for gets neither password nor message.
func TestUnknownCertificateIsRefused(t *testing.T) {
	server := identitytest.StartSMTP(t, securityStartTLS, "cloud", mailPassword)
	s := mailTo(server, securityStartTLS, "cloud", mailPassword)
	s.Mail.CAFile = ""
	mailer, log := open(t, s, MailerOptions{})
	require.NoError(t, mailer.Send(reset))
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "certificate") }, time.Minute,
		5*time.Millisecond)
	require.Zero(t, server.Waiting())
}

// A server without STARTTLS where it is asked for gets no message either.
func TestNoFallbackToPlain(t *testing.T) {
	server := identitytest.StartSMTP(t, securityNone, "", "")
	mailer, log := open(t, mailTo(server, securityStartTLS, "", ""), MailerOptions{})
	require.NoError(t, mailer.Send(reset))
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "it will be tried again") },
		time.Minute, 5*time.Millisecond)
	require.Zero(t, server.Waiting())
}

// The end does not wait for a server that does not answer.
func TestEndCutsOff(t *testing.T) {
	server := identitytest.StartSMTP(t, securityNone, "", "")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := mailTo(server, securityNone, "", "")
	s.Mail.Timeout = Duration(10 * time.Minute)
	mailer, err := NewMailer(s, MailerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = mailer.Run(ctx) }()
	l := reset
	l.To = "silent@example.org"
	require.NoError(t, mailer.Send(l))
	require.Equal(t, "silent", server.Next(t).Event)
	cancel()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "it does not end")
	}
}

// provider is a gateway for short messages over HTTP.
type provider struct {
	*httptest.Server
	got   chan string // method, path, authorization and body
	codes chan int    // answers to give, 202 when empty
}

func newProvider(t *testing.T) *provider {
	p := &provider{got: make(chan string, 64), codes: make(chan int, 64)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.got <- strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), string(body)}, " | ")
		select {
		case code := <-p.codes:
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
			fmt.Fprintf(w, "I do not like %s", body)
		default:
			w.WriteHeader(202)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) next(t *testing.T) string {
	t.Helper()
	select {
	case s := <-p.got:
		return s
	case <-time.After(time.Minute):
		require.Fail(t, "no message arrived")
		return ""
	}
}

func (p *provider) settings() Settings {
	return Settings{SMS: &SMSSettings{URL: p.URL + "/send?to={{query .To}}",
		Header: map[string]string{"Authorization": "Bearer {{.Secret}}"},
		Body:   `{"text": {{json .Text}}}`, Success: []int{202}, secret: "gateway-key"}}
}

var codeByText = Message{Kind: Code, Channel: Text, To: "+1 512 555 0100", Code: "739104"}

func TestShortMessage(t *testing.T) {
	p := newProvider(t)
	mailer, log := open(t, p.settings(), MailerOptions{})
	require.True(t, mailer.Can(Text))
	require.NoError(t, mailer.Send(codeByText))
	require.Equal(t, `POST | /send?to=%2B1+512+555+0100 | Bearer gateway-key | {"text": "Your code is 739104. It is good for 15 minutes. Give it to nobody."}`, p.next(t))
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "message sent") }, time.Minute,
		5*time.Millisecond)
	for _, text := range []string{"739104", "512 555", "512+555", "gateway-key"} {
		require.NotContains(t, log.String(), text)
	}
}

func TestGatewayAnswers(t *testing.T) {
	p := newProvider(t)
	mailer, log := open(t, p.settings(), MailerOptions{})
	for _, code := range []int{500, 302, 429, 401} { // all of these may pass; a redirect is not followed
		p.codes <- code
	}
	require.NoError(t, mailer.Send(codeByText))
	for range 5 {
		require.Contains(t, p.next(t), "POST | /send")
	}
	p.codes <- 400
	require.NoError(t, mailer.Send(codeByText))
	p.next(t)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "a message was refused") }, time.Minute,
		5*time.Millisecond)
	require.Equal(t, 4, strings.Count(log.String(), "it will be tried again"))
	require.NotContains(t, log.String(), "739104")
	p.Close()
	require.NoError(t, mailer.Send(codeByText))
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "reach SMS gateway") }, time.Minute,
		5*time.Millisecond)
	for _, text := range []string{"739104", "512 555", "512+555", "gateway-key", "/send"} {
		require.NotContains(t, log.String(), text)
	}
}

func TestSendDoesNotWait(t *testing.T) {
	mailer, err := NewMailer(newProvider(t).settings(), MailerOptions{Capacity: 2}) // it does not run
	require.NoError(t, err)
	require.ErrorIs(t, mailer.Send(reset), ErrNoChannel)
	nobody := codeByText
	nobody.To = ""
	require.ErrorIs(t, mailer.Send(nobody), ErrNoChannel)
	require.NoError(t, mailer.Send(codeByText))
	require.NoError(t, mailer.Send(codeByText))
	require.ErrorIs(t, mailer.Send(codeByText), ErrFull)
}

func TestACodeIsGivenUpBeforeItIsDead(t *testing.T) {
	q := newQueue(MailerOptions{First: firstPause, Capacity: 1})
	require.False(t, q.again(job{message: codeByText, tries: 20, expires: time.Now().Add(time.Minute)}))
	require.True(t, q.again(job{message: codeByText, tries: 20, expires: time.Now().Add(2 * longest)}))
	require.True(t, q.again(job{message: codeByText, tries: 1, expires: time.Now().Add(time.Minute)}))
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("password", "geheim\n")
	write("token", "sms-key")
	s, err := LoadSettings(write("letters.yaml", `
mail: {server: "smtp.example.org:465", user: cloud, password_file: password, from: Cameras <c@example.org>, timeout: 20s}
sms: {url: "https://sms.example.org/", body: "{{.Text}}", secret_file: token, success: [200]}
pages: {registration: "https://c.example.org/?a={account}&t={token}"}
`))
	require.NoError(t, err)
	require.Equal(t, "geheim", s.Mail.password)
	require.Equal(t, "sms-key", s.SMS.secret)
	require.Equal(t, 20*time.Second, time.Duration(s.Mail.Timeout))
	require.Equal(t, "https://c.example.org/?a=x+1&t=a%2Bb",
		s.Pages.link(Message{Kind: Registration, AccountID: "x 1", Token: "a+b"}))
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	require.NotContains(t, string(raw)+fmt.Sprintf("%+v", s.Pages), "geheim")
	_, err = NewMailer(s, MailerOptions{})
	require.NoError(t, err)
	s, err = LoadSettings(write("empty.yaml", "\n"))
	require.NoError(t, err)
	mailer, err := NewMailer(s, MailerOptions{})
	require.NoError(t, err)
	require.False(t, mailer.Can(Mail))

	for text, want := range map[string]string{
		`mail: {server: smtp.example.org, from: a@b.c}`:                                         "mail.server must be",
		`mail: {server: "smtp.example.org:0", from: a@b.c}`:                                     "mail.server must be",
		`mail: {server: "s:25", from: nobody}`:                                                  "mail.from must be",
		`mail: {server: "s:25", from: a@b.c, security: some}`:                                   "mail.security must be",
		`mail: {server: "s:25", from: a@b.c, security: none, user: u, password_file: password}`: "sent in plain",
		`mail: {server: "s:25", from: a@b.c, user: u}`:                                          "password_file",
		`mail: {server: "s:25", from: a@b.c, user: u, password_file: geheim}`:                   "mail.password_file",
		`mail: {server: "s:25", from: a@b.c, password: geheim}`:                                 "password",
		`mail: {server: "s:25", from: a@b.c, timeout: soon}`:                                    "15s",
		`mail: {server: "s:25", from: a@b.c, ca_file: none.pem}`:                                "mail.ca_file",
		`sms: {url: "sms.example.org", body: x}`:                                                "https://",
		`sms: {url: "https://s/", body: "{{.Nothing}}"}`:                                        "sms.body",
		`sms: {url: "https://s/{{", body: x}`:                                                   "sms.url",
		`sms: {url: "https://s/", header: {A: "{{json}}"}}`:                                     "sms.header.A",
		`sms: {url: "https://s/", method: "GET IT"}`:                                            "sms.method",
		`fax: {}`: "fax",
	} {
		s, err := LoadSettings(write("bad.yaml", text))
		if err == nil {
			_, err = NewMailer(s, MailerOptions{})
		}
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "geheim", text)
	}
}

func TestWordsOfEveryKind(t *testing.T) {
	for _, language := range []string{"en-us", "ja", "ja-JP", "de", ""} {
		for _, kind := range []Kind{Registration, UserCreated, PasswordReset, Code, Locked, CameraStatus,
			BridgeStatus} {
			l := Message{Kind: kind, Channel: Mail, To: "a@b.c", Language: language, Name: "An\r\nna",
				Account: "Shop", AccountID: "acc1", Token: "tok1", Code: "0042", Camera: "Front\r\ngate",
				Bridge: "Box\r\n1", Cameras: []string{"Front\r\ngate", "www.evil.org", "Yard"},
				Status: "deviceOffline", When: "2026-11-21 08:00:00 CET"}
			subject, body, err := Pages{}.write(l)
			require.NoError(t, err)
			require.NotEmpty(t, subject)
			require.NotContains(t, subject+body, "\r")
			require.Contains(t, body, "An na")
			require.Equal(t, strings.HasPrefix(language, "ja"), strings.ContainsRune(body, '様'))
			switch kind {
			case Registration:
				require.Contains(t, body, "acc1")
				require.Contains(t, body, "tok1")
			case UserCreated, PasswordReset:
				require.Contains(t, body, "tok1")
			case Code:
				require.Contains(t, body, "0042")
			case BridgeStatus:
				require.Contains(t, body, "Box 1")
				require.Contains(t, body, "\n- Front gate\n- Yard\n")
				require.Contains(t, body, "2026-11-21 08:00:00 CET")
				require.Contains(t, body, map[bool]string{true: "オフライン",
					false: "offline"}[strings.HasPrefix(language, "ja")])
			case CameraStatus:
				require.Contains(t, body, "Front gate")
				require.Contains(t, body, "2026-11-21 08:00:00 CET")
				require.Contains(t, body, map[bool]string{true: "オフライン",
					false: "offline"}[strings.HasPrefix(language, "ja")])
			}
		}
	}
	_, _, err := Pages{}.write(Message{Kind: PasswordReset, Channel: Text})
	require.Error(t, err, "links do not go by SMS")
	for _, bad := range []string{"Win a prize: https://evil.example", "see WWW.evil", "evil.org/path", "evil。com",
		"evil．com", "mail me@evil", "at 1.evil"} {
		require.Empty(t, oneLine(bad))
	}
	for _, good := range []string{"J. R. Smith", "O'Neil & Sons, Inc.", "Werk 2.5", "日本 支店", "<b>bold</b>", "No. 5"} {
		require.Equal(t, good, oneLine(good))
	}
	require.Equal(t, "gro.evil", strings.ReplaceAll(oneLine("\u202egro. evil\u200b"), " ", ""))
	require.Len(t, []rune(oneLine(strings.Repeat("ü", 200))), maxName)
	require.Equal(t, "… +7", listed(slices.Repeat([]string{"Gate"}, maxListed+7))[maxListed])
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte(`mail: {server: "s:25", from: a@b.c}`))
	f.Add([]byte(`sms: {url: "https://s/{{query .To}}", body: "{{json .Text}}", header: {A: "{{.Secret}}"}}`))
	f.Add([]byte(`pages: {password: "{token}"}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.Contains(raw, []byte("file")) {
			return // it would read what the fuzzer names
		}
		s, err := parse(raw, t.TempDir())
		if err != nil {
			return
		}
		if s.SMS != nil && strings.Contains(s.SMS.URL+s.SMS.Body, "range") {
			return // templates are the operator's own; loops in them are theirs
		}
		_, _ = NewMailer(s, MailerOptions{})
	})
}

// Done is told of what was sent and of what is given up, and not of what waits when the mailer
// ends.
func TestDoneIsToldOfWhatIsOver(t *testing.T) {
	server := identitytest.StartSMTP(t, securityNone, "", "")
	var mu sync.Mutex
	var over []string
	o := MailerOptions{First: time.Millisecond, Done: func(l Message) {
		mu.Lock()
		defer mu.Unlock()
		over = append(over, l.To)
	}}
	mailer, _ := open(t, mailTo(server, securityNone, "", ""), o)
	message := func(to string) Message {
		l := reset
		l.To, l.Seq = to, 1
		return l
	}
	require.NoError(t, mailer.Send(message("a@example.org")))
	require.Equal(t, []string{"a@example.org"}, server.Next(t).To)
	require.NoError(t, mailer.Send(message("not an address")))
	late := message("b@example.org")
	late.Until = time.Now().Add(-time.Second)
	require.NoError(t, mailer.Send(late))
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(over) == 3
	}, time.Minute, 5*time.Millisecond)

	away, err := NewMailer(Settings{Mail: &MailSettings{Server: "127.0.0.1:1", Security: securityNone,
		From: "a@b.org"}}, MailerOptions{Done: func(Message) { t.Error("it waits") }})
	require.NoError(t, err)
	require.NoError(t, away.Send(message("c@example.org")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, away.Run(ctx))
	noted, lost := away.lines[Mail].queue.remaining()
	require.Equal(t, []int{1, 0}, []int{noted, lost})
}

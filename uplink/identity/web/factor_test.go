package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

const (
	aaaCode    = "/g/aaa/two_factor_authenticate"
	aaaUpdate  = "/g/aaa/two_factor_authenticate/update"
	aaaVerify  = "/g/aaa/two_factor_authenticate/verify"
	ruPhone    = "+1 512 555 0100"
	typeOfCode = "two_factor_authentication_type"
	codeArg    = "two_factor_authentication_code"
)

// withFactor puts the second factor into a fixture; sender nil is the fixture's own outbox.
func withFactor(sender notify.Sender) func(*Options, *session.Options) {
	return func(o *Options, so *session.Options) {
		if sender != nil {
			so.Post = sender
		}
	}
}

// factorFixture is a fixture where ru@c has a second factor and a phone.
func factorFixture(t testing.TB) *fixture {
	b := newFixture(t, withFactor(nil))
	b.EditUser("ru@c", func(u *model.User) { u.IsFactorEnabled, u.SMSPhone = true, ruPhone })
	return b
}

// begin is the first step of ru@c's sign-in.
func (b *fixture) begin(email string, more ...func(*http.Request)) string {
	b.t.Helper()
	r := b.call("POST", "/g/aaa/authenticate", "", login(email, password), more...).want(200)
	require.Contains(b.t, string(r.body), codeArg)
	return r.field("token")
}

// code has a code sent and returns it with one that is wrong.
func (b *fixture) code(token, kind, to string) (right, wrong string) {
	b.t.Helper()
	r := b.call("POST", aaaCode, "", args{"token": token, typeOfCode: kind}).want(200)
	require.Empty(b.t, r.body)
	l := b.message(to)
	require.Equal(b.t, notify.Code, l.Kind)
	require.Equal(b.t, notify.Channel(kind), l.Channel)
	require.Regexp(b.t, `^\d{4}$`, l.Code)
	return l.Code, other(l.Code)
}

// other is another code.
func other(code string) string {
	if code == "0000" {
		return "0001"
	}
	return "0000"
}

func device(value string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "tfa_key", Value: value}) }
}

// Sign-in with a code, over an SMTP server and a gateway that are not ours.
func TestCodesByMailAndSMS(t *testing.T) {
	server := identitytest.StartSMTP(t, "starttls", "cloud", "mail password")
	texts := make(chan string, 8)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		texts <- r.Header.Get("Authorization") + " " + string(body)
		w.WriteHeader(201)
	}))
	t.Cleanup(gateway.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("mail-password", "mail password\n")
	write("sms-key", "gateway key\n")
	settings, err := notify.LoadSettings(write("letters.yaml", `
mail:
  server: `+server.Address()+`
  user: cloud
  password_file: mail-password
  from: Cameras <cameras@example.org>
  ca_file: `+server.CAFile+`
sms:
  url: `+gateway.URL+`/messages
  header: {Authorization: "Bearer {{.Secret}}"}
  body: '{"to": {{json .To}}, "text": {{json .Text}}}'
  success: [201]
  secret_file: sms-key
`))
	require.NoError(t, err)
	mailer, err := notify.NewMailer(settings, notify.MailerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = mailer.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })

	b := newFixture(t, withFactor(mailer))
	b.user("anna.long@c", func(u *model.User) { u.IsFactorEnabled, u.SMSPhone = true, ruPhone })
	r := b.call("POST", "/g/aaa/authenticate", "", login("anna.long@c", password)).want(200)
	var first struct {
		Token string         `json:"token"`
		Code  session.Masked `json:"two_factor_authentication_code"`
	}
	r.into(&first)
	require.Equal(t, session.Masked{SMS: "***00", Email: "a***@c"}, first.Code)
	b.call("POST", aaaCode, "", args{"token": first.Token, typeOfCode: "email"}).want(200)
	mail := server.Next(t)
	require.Equal(t, []string{"anna.long@c"}, mail.To)
	code := regexp.MustCompile(`your code is (\d{4})`).FindStringSubmatch(mail.Text)
	require.NotNil(t, code, mail.Text)
	r = b.call("POST", "/g/aaa/authorize", "", args{"token": first.Token, codeArg: code[1]}).want(200)
	require.NotNil(t, r.cookie("tfa_key"))
	b.call("GET", "/g/aaa/isauth", r.cookie("auth_key").Value, nil).want(200)

	token := b.begin("anna.long@c")
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "sms"}).want(200)
	var text string
	select {
	case text = <-texts:
	case <-time.After(time.Minute):
		require.Fail(t, "no short message")
	}
	require.True(t, strings.HasPrefix(text, `Bearer gateway key {"to": "+1 512 555 0100", "text": "`), text)
	code = regexp.MustCompile(`code is (\d{4})`).FindStringSubmatch(text)
	require.NotNil(t, code, text)
	b.callIn(inForm, "POST", "/g/aaa/authorize", "", args{"token": token, codeArg: code[1]}).want(200)
}

func TestSendCodeCodes(t *testing.T) {
	b := factorFixture(t)
	token := b.begin("ru@c")
	b.call("POST", aaaCode, "", args{"token": token}).want(400)
	b.call("POST", aaaCode, "", args{typeOfCode: "sms"}).want(400)
	b.call("POST", aaaCode, "", args{"token": "nonsense", typeOfCode: "sms"}).want(400)
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "sms", "what": "else"}).want(400)
	simple := b.call("POST", "/g/aaa/authenticate", "", login("asu@c", password)).want(200).field("token")
	b.call("POST", aaaCode, "", args{"token": simple, typeOfCode: "email"}).want(400, "needs no code")
	for _, kind := range []string{"fax", "SMS", "email "} {
		b.call("POST", aaaCode, "", args{"token": token, typeOfCode: kind}).want(415)
	}
	b.call("POST", aaaCode, "", args{"token": "nonsense", typeOfCode: "fax"}).want(415, "the last that holds")
	b.EditUser("ru@c", func(u *model.User) { u.SMSPhone = "" })
	require.Contains(t, string(b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).body),
		`"sms":"no phone number"`)
	token = b.begin("ru@c")
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "sms"}).want(412, "no phone")
	b.outbox.none[notify.Mail] = true
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(412, "mail is not configured")
	b.outbox.none[notify.Mail] = false
	for _, encoding := range bodyEncodings {
		b.callIn(encoding, "POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(200)
	}
	sent := b.messagesTo("ru@c")
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(429, "five codes are enough")
	require.Equal(t, sent, b.messagesTo("ru@c"))
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = false })
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(412, "disabled")
}

func TestCodeIsGoodOnceAndForFifteenMinutes(t *testing.T) {
	b := factorFixture(t)
	authorize := func(token, code string) reply {
		return b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: code})
	}
	token := b.begin("ru@c")
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "no code")
	authorize(token, "0000").want(401, "none was sent")
	right, _ := b.code(token, "sms", ruPhone)
	r := authorize(token, right).want(200)
	require.Equal(t, b.ids["ru@c"], r.field("user_id"))
	authorize(token, right).want(401, "used")

	token = b.begin("ru@c")
	b.Advance(10 * time.Minute)
	old, _ := b.code(token, "email", "ru@c")
	b.Advance(14*time.Minute + 59*time.Second)
	authorize(token, old).want(200, "15 minutes from when it was sent")
	token = b.begin("ru@c")
	right, _ = b.code(token, "email", "ru@c")
	b.Advance(15 * time.Minute)
	authorize(token, right).want(401, "expired")
	token = b.begin("ru@c")
	b.Advance(15 * time.Minute)
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "sms"}).want(400, "the ticket is over")

	// A newer code takes the place of an older one. Two sign-ins have each their own, and neither's
	// is good for the other.
	token = b.begin("ru@c")
	first, _ := b.code(token, "email", "ru@c")
	second, _ := b.code(token, "sms", ruPhone)
	if first != second {
		authorize(token, first).want(406)
	}
	newer := b.begin("ru@c")
	right, _ = b.code(newer, "sms", ruPhone)
	if right != second {
		authorize(token, right).want(406)
	}
	authorize(token, second).want(200)
	authorize(newer, right).want(200)
	require.Zero(t, b.User("ru@c").Inner.CodeFailures, "a right code clears the count")
}

// Wrong codes count for the user: beginning anew, or at several places at once, gives no more
// guesses than three.
func TestManySignInsGiveNoMoreGuesses(t *testing.T) {
	b := factorFixture(t)
	var tokens, wrong []string
	for range 4 {
		token := b.begin("ru@c")
		_, bad := b.code(token, "email", "ru@c")
		tokens, wrong = append(tokens, token), append(wrong, bad)
	}
	for i, want := range []int{406, 406, 406, 429} {
		b.call("POST", "/g/aaa/authorize", "", args{"token": tokens[i], codeArg: wrong[i]}).want(want)
	}
	require.True(t, b.User("ru@c").Locked())
	b.call("POST", "/g/aaa/authorize", "", args{"token": tokens[0], codeArg: wrong[0]}).want(401,
		"no sign-in is left but that of the last code")
}

func TestWrongCodesLock(t *testing.T) {
	b := factorFixture(t)
	key := b.signIn("asu@c")
	// Three wrong codes are forgiven, over several sign-ins; what does not look like a code is a
	// wrong one.
	token := b.begin("ru@c")
	_, wrong := b.code(token, "email", "ru@c")
	b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: wrong}).want(406)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: "12345"}).want(406)
	token = b.begin("ru@c")
	right, wrong := b.code(token, "sms", ruPhone)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: wrong}).want(406)
	require.False(t, b.User("ru@c").Locked())
	n := b.messagesTo("ru@c")
	b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: wrong}).want(429)
	u := b.User("ru@c")
	require.True(t, u.Locked())
	require.Equal(t, "wrong codes", u.Inner.LockedWhy)
	require.Equal(t, n+1, b.messagesTo("ru@c"))
	require.Equal(t, notify.Locked, b.message("ru@c").Kind)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: right}).want(429,
		"the right one comes too late")
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(412)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(412)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", "wrong")).want(412,
		"the lock is told before the password, by the order of codes")
	b.call("GET", "/g/aaa/isauth", key, nil).want(200, "nobody else is locked")
	var actions []string
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		list, err := tx.AuditTrail("c", 0, 10)
		actions = nil
		for _, e := range list {
			if e.Target == u.ID {
				actions = append(actions, string(e.Action))
			}
		}
		return err
	}))
	require.Equal(t, []string{"refuse", "lock", "refuse", "refuse", "refuse"}, actions,
		"the newest is the wrong password")
}

// A right code of another user's sign-in, or of another sign-in of the same user, is a wrong one.
func TestAnotherUsersCode(t *testing.T) {
	b := factorFixture(t)
	b.EditUser("asu@c", func(u *model.User) { u.IsFactorEnabled = true })
	mine, theirs := b.begin("ru@c"), b.begin("asu@c")
	my, _ := b.code(mine, "email", "ru@c")
	their, _ := b.code(theirs, "email", "asu@c")
	for my == their {
		their, _ = b.code(theirs, "email", "asu@c")
	}
	b.call("POST", "/g/aaa/authorize", "", args{"token": mine, codeArg: their}).want(406)
	b.call("POST", "/g/aaa/authorize", "", args{"token": theirs, codeArg: my}).want(406)
	b.call("POST", "/g/aaa/authorize", "", args{"token": mine, codeArg: my}).want(200)
	// Neither the code nor what it is compared with can be used from the file.
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		list, err := tx.TicketsOf(b.ids["asu@c"])
		require.Len(t, list, 1)
		require.Len(t, list[0].Code.Hash, 32)
		return err
	}))
}

func TestForcedByTheAccount(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	asu := b.signIn("asu@c")
	b.call("POST", "/g/account", asu, args{"id": "c", "is_two_factor_authentication_forced": 1}).want(200)
	token := b.begin("ru@c")
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401)
	right, _ := b.code(token, "email", "ru@c")
	key := b.call("POST", "/g/aaa/authorize", "",
		args{"token": token, codeArg: right}).want(200).cookie("auth_key").Value
	b.call("POST", aaaUpdate, key, change("is_two_factor_authentication_enabled", 0)).want(400,
		"the account asks everyone")
	b.signIn("ru@m") // of another account
	b.call("POST", "/g/account", asu, args{"id": "c", "is_two_factor_authentication_forced": 0}).want(200)
	b.signIn("ru@c")
}

func TestTrustedDevice(t *testing.T) {
	b := factorFixture(t)
	b.EditUser("asu@c", func(u *model.User) { u.IsFactorEnabled = true })
	enter := func(email string, more ...func(*http.Request)) reply {
		token := b.begin(email, more...)
		right, _ := b.code(token, "email", email)
		return b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: right}, more...).want(200)
	}
	r := enter("ru@c")
	tfa := r.cookie("tfa_key")
	require.True(t, tfa.HttpOnly && tfa.SameSite == http.SameSiteLaxMode && tfa.MaxAge > 300*24*3600)
	require.NotContains(t, string(r.body), tfa.Value, "the list of devices opens nothing")
	simple := func(email, value string) {
		t.Helper()
		r := b.call("POST", "/g/aaa/authenticate", "", login(email, password), device(value)).want(200)
		require.NotContains(t, string(r.body), codeArg)
		b.call("POST", "/g/aaa/authorize", "", args{"token": r.field("token")}, device(value)).want(200)
	}
	simple("ru@c", tfa.Value)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", "wrong"), device(tfa.Value)).want(401)
	// It serves only those who signed in on it, with the same value for all of them.
	r = enter("asu@c", device(tfa.Value))
	require.Equal(t, tfa.Value, r.cookie("tfa_key").Value)
	simple("asu@c", tfa.Value)
	simple("ru@c", tfa.Value)
	require.Len(t, b.User("ru@c").Clients, 1)
	require.Equal(t, b.User("ru@c").Clients, b.User("asu@c").Clients)
	// A value that someone put into the browser is not taken over.
	r = enter("ru@c", device("planted"))
	require.NotEqual(t, "planted", r.cookie("tfa_key").Value)
	b.begin("ru@c", device("planted"))
	require.Len(t, b.User("ru@c").Clients, 2)
	b.Advance(400 * 24 * time.Hour)
	b.begin("ru@c", device(tfa.Value))
	// An old cookie is replaced: nobody is trusted by it any more.
	require.NotEqual(t, tfa.Value, enter("ru@c", device(tfa.Value)).cookie("tfa_key").Value)
	require.Len(t, b.User("ru@c").Clients, 1)
	for range 25 {
		enter("ru@c")
	}
	require.Len(t, b.User("ru@c").Clients, 20)
}

// change is the arguments of an update by mail.
func change(field string, v any) args {
	return args{typeOfCode: "email", "password": password, "update_json": map[string]any{field: v}}
}

func TestUpdateAndVerify(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	key := b.signIn("ru@c")
	verify := func(code string) reply { return b.call("POST", aaaVerify, key, args{codeArg: code}) }
	verify("0000").want(406, "nothing was asked for")
	verify("000").want(400)
	b.call("POST", aaaVerify, "", args{codeArg: "0000"}).want(401)
	b.call("POST", aaaUpdate, "", change("email", "x@y.z")).want(401)
	for _, a := range []args{nil, change("email", "none"), change("sms_phone", "call me"), change("sms_phone", 5),
		change("is_two_factor_authentication_enabled", "yes"),
		change("is_two_factor_authentication_enabled", nil), change("first_name", "x"),
		{typeOfCode: "email", "password": password},
		{typeOfCode: "email", "password": password, "update_json": map[string]any{}},
		{typeOfCode: "email", "password": password,
			"update_json": map[string]any{"email": "a@b.c", "sms_phone": "+15125550100"}}, change("email",
			"a@b.c").with("id", b.ids["asu@c"])} {
		b.call("POST", aaaUpdate, key, a).want(400, a)
	}
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone).with("password", "wrong")).want(401)
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone).with(typeOfCode, "fax")).want(415)
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone).with(typeOfCode, "sms")).want(415,
		"there is no phone yet")
	require.Zero(t, b.messagesTo("ru@c"))

	set := func(field string, v any, kind, to string) {
		t.Helper()
		r := b.call("POST", aaaUpdate, key, change(field, v).with(typeOfCode, kind)).want(200)
		require.Empty(t, r.body)
		r = verify(b.message(to).Code).want(200)
		require.Empty(t, r.body)
		verify(b.message(to).Code).want(406, "used")
	}
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone)).want(200)
	require.Empty(t, b.User("ru@c").SMSPhone, "not before it is verified")
	verify(other(b.message("ru@c").Code)).want(406)
	verify(b.message("ru@c").Code).want(200)
	require.Equal(t, ruPhone, b.User("ru@c").SMSPhone)
	set("is_two_factor_authentication_enabled", 1, "sms", ruPhone)
	require.True(t, bool(b.User("ru@c").IsFactorEnabled))
	b.begin("ru@c")
	set("is_two_factor_authentication_enabled", 0, "email", "ru@c")
	b.signIn("ru@c")

	// A new address signs in, the old one does not, and links that went there open nothing.
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	link := b.message("ru@c").Token
	set("email", "new@c", "sms", ruPhone)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(401)
	b.signIn("new@c")
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": link}).want(406)
	set("sms_phone", "", "email", "new@c")
	// That an address is taken is told only to who has the code.
	b.call("POST", aaaUpdate, key, change("email", "ASU@c")).want(200)
	verify(b.message("new@c").Code).want(406)
	require.Equal(t, "new@c", b.User("new@c").Email)
	// A code is good for 15 minutes, and for the newest change only.
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone)).want(200)
	b.Advance(15 * time.Minute)
	verify(b.message("new@c").Code).want(406)
	b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone)).want(200)
	old := b.message("new@c").Code
	b.call("POST", aaaUpdate, key, change("sms_phone", "+49 30 1234567")).want(200)
	if code := b.message("new@c").Code; code != old {
		verify(old).want(406)
	}
	// A code of sign-in is worth nothing here, nor the other way round.
	asu := b.signIn("asu@c")
	b.call("POST", aaaVerify, asu, args{codeArg: b.message("new@c").Code}).want(406, "of another user")
	verify(b.message("new@c").Code).want(200)
	require.Equal(t, "+49 30 1234567", b.User("new@c").SMSPhone)
	var fields []string
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		list, err := tx.AuditTrail("c", 0, 100)
		for _, e := range list {
			fields = append(fields, e.Fields...)
		}
		return err
	}))
	require.Contains(t, fields, "sms_phone")
	require.Contains(t, fields, "is_two_factor_authentication_enabled")
	require.Contains(t, fields, "email")
}

func TestUpdateInEachEncoding(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	key := b.signIn("ru@c")
	for i, encoding := range bodyEncodings {
		phone := "+1512555010" + string(rune('0'+i))
		b.callIn(encoding, "POST", aaaUpdate, key, change("sms_phone", phone)).want(200, encoding)
		b.callIn(encoding, "POST", aaaVerify, key, args{codeArg: b.message("ru@c").Code}).want(200, encoding)
		require.Equal(t, phone, b.User("ru@c").SMSPhone)
	}
}

// Guessing in verify locks as guessing in authorize does, and what was begun counts on.
func TestWrongCodesOfVerifyLock(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	key := b.signIn("ru@c")
	for range 4 {
		b.call("POST", aaaUpdate, key, change("sms_phone", ruPhone)).want(200)
		b.call("POST", aaaVerify, key, args{codeArg: other(b.message("ru@c").Code)}).want(406)
	}
	require.True(t, b.User("ru@c").Locked())
	require.Equal(t, notify.Locked, b.message("ru@c").Kind)
	b.call("GET", "/g/aaa/isauth", key, nil).want(401)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(412)
}

// Who has a second factor is told only to who has the password, and no answer waits for a message.
func TestFactorTellsStrangersNothing(t *testing.T) {
	b := factorFixture(t)
	var bodies []string
	for _, email := range []string{"ru@c", "asu@c", "nobody@c"} {
		bodies = append(bodies, string(b.call("POST", "/g/aaa/authenticate", "",
			login(email, "wrong wrong 1")).want(401).body))
	}
	require.Equal(t, bodies[0], bodies[1])
	require.Equal(t, bodies[0], bodies[2])
	require.Zero(t, b.messagesTo("ru@c"), "a password alone sends nothing")
	unknown := b.call("POST", aaaCode, "", args{"token": "x", typeOfCode: "sms"}).want(400)
	simple := b.call("POST", "/g/aaa/authenticate", "", login("asu@c", password)).want(200).field("token")
	require.Equal(t, string(unknown.body), string(b.call("POST", aaaCode, "",
		args{"token": simple, typeOfCode: "sms"}).want(400).body))
}

// A mail server that never answers holds nobody up: the answer is there while the message still
// waits.
func TestAnswersDoNotWaitForLetters(t *testing.T) {
	server := identitytest.StartSMTP(t, "none", "", "")
	mailer, err := notify.NewMailer(notify.Settings{Mail: &notify.MailSettings{Server: server.Address(),
		Security: "none", From: "a@b.c"}}, notify.MailerOptions{})
	require.NoError(t, err)
	b := newFixture(t, withFactor(mailer)) // the mailer is closed
	b.EditUser("ru@c", func(u *model.User) { u.IsFactorEnabled = true })
	b.call("POST", aaaCode, "", args{"token": b.begin("ru@c"), typeOfCode: "email"}).want(200)
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	require.Zero(t, server.Waiting())
}

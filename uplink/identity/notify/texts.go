package notify

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"vmsbridge/uplink/vms"
)

// words are the texts of one language: what a mail says, its subject in the first line, and what a short message says.
type texts struct {
	mail map[Kind]*template.Template
	text map[Kind]*template.Template
	// states are the words for the status of a camera.
	states map[string]string
}

func parseTexts(mail, text map[Kind]string, states map[string]string) texts {
	w := texts{map[Kind]*template.Template{}, map[Kind]*template.Template{}, states}
	for kind, s := range mail {
		w.mail[kind] = template.Must(template.New(string(kind)).Parse(s))
	}
	for kind, s := range text {
		w.text[kind] = template.Must(template.New(string(kind)).Parse(s))
	}
	return w
}

// english is for every language that has no words of its own: the document shows en-us and ja, and English to others.
var english = parseTexts(map[Kind]string{
	Registration: `Validate your account
Hello{{with .Name}} {{.}}{{end}},

an account was opened with this address{{with .Account}}: {{.}}{{end}}. It can be used once you have validated it.

{{if .Link}}Follow this link within 7 days:

{{.Link}}
{{else}}Enter this within 7 days:

account  {{.AccountID}}
token    {{.Token}}
{{end}}
If you did not open it, do nothing: it stays closed.
`,
	UserCreated: `Set your password
Hello{{with .Name}} {{.}}{{end}},

a user was made for you{{with .Account}} in the account {{.}}{{end}}. You can sign in once you have set a password.

{{if .Link}}Follow this link within 7 days:

{{.Link}}
{{else}}Enter this token within 7 days:

{{.Token}}
{{end}}`,
	PasswordReset: `Set another password
Hello{{with .Name}} {{.}}{{end}},

someone asked for another password for this address.

{{if .Link}}If that was you, follow this link within 2 hours:

{{.Link}}
{{else}}If that was you, enter this token within 2 hours:

{{.Token}}
{{end}}
If not, do nothing: your password stays as it is.
`,
	Code: `Your code
Hello{{with .Name}} {{.}}{{end}},

your code is {{.Code}}

It is good for 15 minutes and once. Give it to nobody. If you are not signing in or changing your settings just now,
someone knows your password: change it.
`,
	Locked: `Your user is locked
Hello{{with .Name}} {{.}}{{end}},

too many wrong passwords or codes were entered for you{{with .Account}} in the account {{.}}{{end}}, so that nobody can
sign in as you any more. Support can unlock you. If it was not you who entered them, tell support.
`,
	CameraStatus: `{{if eq .Status "online"}}A camera is online again{{else}}A camera is {{.State}}{{end}}
Hello{{with .Name}} {{.}}{{end}},

the camera {{.Camera}}{{with .Account}} of the account {{.}}{{end}} is {{.State}}.

since {{.When}}

You get this since your settings ask for notices of the system.
`,
	BridgeStatus: `{{if eq .Status "online"}}A bridge is online again{{else}}A bridge is offline{{end}}
Hello{{with .Name}} {{.}}{{end}},

the bridge {{.Bridge}}{{with .Account}} of the account {{.}}{{end}} is {{if eq .Status "online"}}online again{{else}}offline{{end}}.

since {{.When}}
{{if ne .Status "online"}}
Nothing is heard of its cameras either. Look at its power and its link.
{{end}}
{{range .Cameras}}- {{.}}
{{end}}
You get this since your settings ask for notices of the system.
`,
}, map[Kind]string{
	Code:   `Your code is {{.Code}}. It is good for 15 minutes. Give it to nobody.`,
	Locked: `Too many wrong passwords or codes: your user is locked. Ask support.`,
}, map[string]string{vms.StatusOnline: "online", vms.StatusDeviceOffline: "offline", vms.StatusBridgeOffline: "out of reach: its bridge is offline",
	vms.StatusOff: "switched off", vms.StatusError: "in trouble", vms.StatusUnknown: "in an unknown state", vms.StatusInvalidCredentials: "refusing the user name or password that is set for it"})

var japanese = parseTexts(map[Kind]string{
	Registration: `アカウントの確認
{{with .Name}}{{.}} 様

{{end}}このメールアドレスでアカウント{{with .Account}}「{{.}}」{{end}}が作成されました。確認が済むとご利用いただけます。

{{if .Link}}7日以内に次のリンクを開いてください。

{{.Link}}
{{else}}7日以内に次の内容を入力してください。

アカウント  {{.AccountID}}
トークン    {{.Token}}
{{end}}
お心当たりがない場合は、何もしないでください。アカウントは有効になりません。
`,
	UserCreated: `パスワードの設定
{{with .Name}}{{.}} 様

{{end}}{{with .Account}}アカウント「{{.}}」に{{end}}ユーザーが作成されました。パスワードを設定するとログインできます。

{{if .Link}}7日以内に次のリンクを開いてください。

{{.Link}}
{{else}}7日以内に次のトークンを入力してください。

{{.Token}}
{{end}}`,
	PasswordReset: `パスワードの再設定
{{with .Name}}{{.}} 様

{{end}}このメールアドレスのパスワードの再設定が依頼されました。

{{if .Link}}ご本人の場合は、2時間以内に次のリンクを開いてください。

{{.Link}}
{{else}}ご本人の場合は、2時間以内に次のトークンを入力してください。

{{.Token}}
{{end}}
お心当たりがない場合は、何もしないでください。パスワードは変わりません。
`,
	Code: `認証コード
{{with .Name}}{{.}} 様

{{end}}認証コードは {{.Code}} です。

15分間有効で、一度だけ使えます。誰にも教えないでください。お心当たりがない場合は、パスワードを変更してください。
`,
	Locked: `ユーザーのロック
{{with .Name}}{{.}} 様

{{end}}パスワードまたは認証コードの誤りが続いたため、ユーザーがロックされました。サポートにご連絡ください。
`,
	CameraStatus: `カメラの状態: {{.State}}
{{with .Name}}{{.}} 様

{{end}}{{with .Account}}アカウント「{{.}}」の{{end}}カメラ「{{.Camera}}」の状態: {{.State}}

{{.When}} から

システム通知の設定により、このメールをお送りしています。
`,
	BridgeStatus: `ブリッジの状態: {{if eq .Status "online"}}オンライン{{else}}オフライン{{end}}
{{with .Name}}{{.}} 様

{{end}}{{with .Account}}アカウント「{{.}}」の{{end}}ブリッジ「{{.Bridge}}」の状態: {{if eq .Status "online"}}オンライン{{else}}オフライン{{end}}

{{.When}} から
{{if ne .Status "online"}}
接続しているカメラとも通信できません。電源と回線をご確認ください。
{{end}}
{{range .Cameras}}- {{.}}
{{end}}
システム通知の設定により、このメールをお送りしています。
`,
}, map[Kind]string{
	Code:   `認証コードは {{.Code}} です。15分間有効です。誰にも教えないでください。`,
	Locked: `パスワードまたは認証コードの誤りが続いたため、ユーザーがロックされました。サポートにご連絡ください。`,
}, map[string]string{vms.StatusOnline: "オンライン", vms.StatusDeviceOffline: "オフライン", vms.StatusBridgeOffline: "ブリッジがオフライン",
	vms.StatusOff: "オフ", vms.StatusError: "エラー", vms.StatusUnknown: "不明", vms.StatusInvalidCredentials: "認証エラー"})

// in chooses the words of a language such as ja, ja-JP or en-us.
func in(language string) texts {
	first, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	if first == "ja" {
		return japanese
	}
	return english
}

// worded is a letter in words. subject is empty for a short message.
func (p Pages) write(l Message) (subject, body string, err error) {
	w, texts := in(l.Language), map[Kind]*template.Template(nil)
	if texts = w.mail; l.Channel == Text {
		texts = w.text
	}
	t := texts[l.Kind]
	if t == nil {
		return "", "", fmt.Errorf("write letter: there are no words for %s by %s", l.Kind, l.Channel)
	}
	var b strings.Builder
	fields := struct {
		Message
		Link, State string
	}{l, p.link(l), w.states[l.Status]}
	if fields.State == "" {
		fields.State = w.states[vms.StatusUnknown]
	}
	// Names come from foreign hands; a line break in one must not begin a paragraph of its own.
	fields.Name, fields.Account, fields.Camera, fields.Bridge = oneLine(l.Name), oneLine(l.Account), oneLine(l.Camera), oneLine(l.Bridge)
	fields.Cameras = listed(l.Cameras)
	if err := t.Execute(&b, fields); err != nil {
		return "", "", fmt.Errorf("write letter: %w", err)
	}
	if l.Channel == Text {
		return "", b.String(), nil
	}
	subject, body, _ = strings.Cut(b.String(), "\n")
	return subject, body, nil
}

// link is where a letter leads, "" if there is no page for it.
func (p Pages) link(l Message) string {
	page := p.Password
	if l.Kind == Registration {
		page = p.Registration
	}
	if l.Token == "" {
		return ""
	}
	return strings.NewReplacer("{account}", url.QueryEscape(l.AccountID), "{token}", url.QueryEscape(l.Token)).Replace(page)
}

// listed is a list of foreign names, of maxListed lines at most.
func listed(names []string) (out []string) {
	for i, name := range names {
		if i == maxListed {
			return append(out, fmt.Sprintf("… +%d", len(names)-i))
		}
		if name = oneLine(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

const (
	maxName   = 80
	maxListed = 50
)

// addressLike is what mail programs make links of: a scheme, or names with a dot between.
var addressLike = regexp.MustCompile(`(?i)://|www[.]|[\pL\pN][.\x{3002}\x{FF0E}\x{FF61}]\pL{2}|[\pL\pN]@`)

// oneLine is foreign text without control characters and marks that turn the direction of writing, and not too long. A name with
// an address in it is left out: mail programs make links of those, and letters go to whoever a stranger names.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	if addressLike.MatchString(s) {
		return ""
	}
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName])
	}
	return s
}

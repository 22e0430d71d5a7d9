package notify

import (
	"embed"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"vmsbridge/uplink/vms"
)

// The texts of a language are templates: mail/KIND is what a mail says, its subject in the first
// line, sms/KIND what a short message says, and state/STATUS a word for the status of a camera.
//
//go:embed texts/*.txt
var textFiles embed.FS

// english is for every language that has no texts of its own: the interface shows en-us and ja.
var english, japanese = parseTexts("en"), parseTexts("ja")

func parseTexts(language string) *template.Template {
	return template.Must(template.ParseFS(textFiles, "texts/"+language+".txt"))
}

// in chooses the texts of a language such as ja, ja-JP or en-us.
func in(language string) *template.Template {
	first, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	if first == "ja" {
		return japanese
	}
	return english
}

// write is a message in words. subject is empty for a short message.
func (p Pages) write(l Message) (subject, body string, err error) {
	texts, name := in(l.Language), "mail/"
	if l.Channel == Text {
		name = "sms/"
	}
	t := texts.Lookup(name + string(l.Kind))
	if t == nil {
		return "", "", fmt.Errorf("write message: there is no text for %s by %s", l.Kind, l.Channel)
	}
	state := texts.Lookup("state/" + l.Status)
	if state == nil {
		state = texts.Lookup("state/" + vms.StatusUnknown)
	}
	var b, word strings.Builder
	if err := state.Execute(&word, nil); err != nil {
		return "", "", fmt.Errorf("write message: %w", err)
	}
	fields := struct {
		Message
		Link, State string
	}{l, p.link(l), word.String()}
	// Names come from foreign hands; a line break in one must not begin a paragraph of its own.
	fields.Name, fields.Account, fields.Camera, fields.Bridge = oneLine(l.Name), oneLine(l.Account),
		oneLine(l.Camera), oneLine(l.Bridge)
	fields.Cameras = listed(l.Cameras)
	if err := t.Execute(&b, fields); err != nil {
		return "", "", fmt.Errorf("write message: %w", err)
	}
	if l.Channel == Text {
		return "", b.String(), nil
	}
	subject, body, _ = strings.Cut(b.String(), "\n")
	return subject, body, nil
}

// link is where a message leads, "" if there is no page for it.
func (p Pages) link(l Message) string {
	page := p.Password
	if l.Kind == Registration {
		page = p.Registration
	}
	if l.Token == "" {
		return ""
	}
	return strings.NewReplacer("{account}", url.QueryEscape(l.AccountID), "{token}",
		url.QueryEscape(l.Token)).Replace(page)
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

// oneLine is foreign text without control characters and marks that turn the direction of writing,
// and not too long. A name with an address in it is left out: mail programs make links of those,
// and messages go to whoever a stranger names.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }),
		" ")
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

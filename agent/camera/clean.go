package camera

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// userInfo is that of a URL in a text.
var userInfo = regexp.MustCompile(`://[^/@\s]*@`)

// clean makes text from the camera or the network fit to be shown: printable, short, and without
// our credentials, which a hostile camera may repeat.
func (t *target) clean(text string) string {
	if t.Password != "" {
		for _, secret := range []string{base64.StdEncoding.EncodeToString([]byte(t.Username + ":" + t.Password)),
			url.QueryEscape(t.Password), url.PathEscape(t.Password), t.Password} {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	text = hideQueryPassword(userInfo.ReplaceAllString(text, "://"))
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return strings.TrimSpace(text)
}

package model

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"image/png"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// check says what is wrong with the value of a field, which has its kind already, as half a
// sentence.
type check func(json.RawMessage) error

// Limits of what a record may hold.
const (
	maxText  = 1024
	maxLong  = 256 << 10
	maxItems = 2000
)

// text makes a check of a string.
func text(max int, ok func(string) error) check {
	return func(raw json.RawMessage) error {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return errors.New("must be a string")
		}
		if len(s) > max {
			return fmt.Errorf("is longer than %d bytes", max)
		}
		if max == maxText {
			if err := CheckLine(s); err != nil {
				return err
			}
		}
		if ok == nil {
			return nil
		}
		return ok(s)
	}
}

// each makes a check of an array of string.
func each(ok func(string) error) check {
	return func(raw json.RawMessage) error {
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return errors.New("must be an array of strings")
		}
		if len(list) > maxItems {
			return fmt.Errorf("has more than %d entries", maxItems)
		}
		for _, s := range list {
			if err := CheckLine(s); err != nil {
				return fmt.Errorf("has an entry that %w", err)
			}
			if ok == nil {
				continue
			}
			if err := ok(s); err != nil {
				return fmt.Errorf("entry %.40q %w", s, err)
			}
		}
		return nil
	}
}

func matches(pattern, form string) func(string) error {
	re := regexp.MustCompile(pattern)
	return func(s string) error {
		if !re.MatchString(s) {
			return errors.New("must look like " + form)
		}
		return nil
	}
}

func oneOf(values ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(values, s) {
			return errors.New("must be one of " + strings.Join(values, ", "))
		}
		return nil
	}
}

func number(min, max int) check {
	return func(raw json.RawMessage) error {
		var n int
		if err := json.Unmarshal(raw, &n); err != nil || n < min || n > max {
			return fmt.Errorf("must be from %d to %d", min, max)
		}
		return nil
	}
}

// orEmpty lets a text be empty.
func orEmpty(ok func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return ok(s)
	}
}

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("must not be empty")
	}
	return nil
}

// CheckLine says what is wrong with a text that stands in a record by itself: it is bounded and of
// one line. Parts of it become keys of the store's indexes, where a zero byte would end a part
// before its time.
func CheckLine(s string) error {
	if len(s) > maxText {
		return fmt.Errorf("is longer than %d bytes", maxText)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return errors.New("holds a control character")
	}
	return nil
}

// maxName bounds the name of something that people see in a list, in bytes.
const maxName = 100

// Name is a text as the name of something: one line, cut to its length.
func Name(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	for len(s) > maxName {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimSpace(s)
}

// CheckEmail says what is wrong with an address. The interface wants ASCII.
func CheckEmail(s string) error {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 ||
		strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == '"' || r == ',' }) {
		return errors.New("must be an e-mail address in ASCII")
	}
	return nil
}

// Fold is the form of an address under which users are found: addresses that differ in case only
// are one.
func Fold(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func checkZone(s string) error {
	if s == "" || s == "Local" {
		return errors.New("must be a timezone such as US/Pacific")
	}
	if _, err := time.LoadLocation(s); err != nil {
		return errors.New("must be a timezone such as US/Pacific")
	}
	return nil
}

// checkRange takes address/prefix, for IPv6 too.
func checkRange(s string) error {
	if p, err := netip.ParsePrefix(s); err != nil || p.Addr().Is4In6() && p.Bits() < 96 {
		return errors.New("must look like 192.0.2.0/24")
	}
	return nil
}

func checkDate(s string) error {
	if _, err := time.Parse("20060102", s); err != nil {
		return errors.New("must be a date YYYYMMDD")
	}
	return nil
}

func checkPeriod(s string) error {
	_, err := ParsePeriod(s)
	return err
}

// checkHours takes two times of day, or none.
func checkHours(raw json.RawMessage) error {
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil || (len(list) != 2 && len(list) != 0) {
		return errors.New("must be a start and a stop, HHMM")
	}
	for _, s := range list {
		if _, err := clock(s); err != nil {
			return err
		}
	}
	return nil
}

// checkStatus takes one status.
func checkStatus(raw json.RawMessage) error {
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil || len(list) != 1 ||
		oneOf(StatusActive, StatusInactive, StatusSuspended, StatusPending)(list[0]) != nil {
		return errors.New("must hold one of active, inactive, suspended, pending_validation")
	}
	return nil
}

// logo takes a PNG of a size in base64, or nothing.
func logo(width, height int) check {
	return text(maxLong, orEmpty(func(s string) error {
		raw, err := base64.StdEncoding.DecodeString(s)
		if err == nil {
			c, err := png.DecodeConfig(bytes.NewReader(raw))
			if err == nil && c.Width == width && c.Height == height {
				return nil
			}
		}
		return fmt.Errorf("must be a PNG of %d by %d pixels in base64", width, height)
	}))
}

// checkCertificate takes an X.509 certificate in PEM, or its base64 alone as identity providers
// print it.
func checkCertificate(s string) error {
	if _, err := ParseCertificate(s); err != nil {
		return errors.New("must be an X.509 certificate in PEM or base64")
	}
	return nil
}

// ParseCertificate reads a certificate in PEM, or in base64 without the lines around it.
func ParseCertificate(s string) (*x509.Certificate, error) {
	der := []byte(nil)
	if block, _ := pem.Decode([]byte(s)); block != nil {
		der = block.Bytes
	} else {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		if err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		der = raw
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return c, nil
}

// checkLists takes an array of arrays of at least min strings each.
func checkLists(min int) check {
	return func(raw json.RawMessage) error {
		var list [][]string
		if err := json.Unmarshal(raw, &list); err != nil || len(list) > maxItems {
			return errors.New("must be an array of arrays of strings")
		}
		for _, e := range list {
			if len(e) < min || len(e) > maxItems {
				return fmt.Errorf("each entry must have at least %d strings", min)
			}
			for _, s := range e {
				if err := CheckLine(s); err != nil {
					return fmt.Errorf("has an entry that %w", err)
				}
			}
		}
		return nil
	}
}

const responderFields = 5

// checkResponders takes entries of an address, first name, last name, company and account; the
// texts but the address may be empty.
func checkResponders(raw json.RawMessage) error {
	if err := checkLists(responderFields)(raw); err != nil {
		return err
	}
	var list [][]string
	if err := json.Unmarshal(raw, &list); err != nil {
		return errors.New("must be an array of arrays of strings")
	}
	for _, e := range list {
		if len(e) > responderFields || CheckEmail(e[0]) != nil {
			return errors.New("each entry must be an e-mail address in ASCII, a first name, a last name, " +
				"a company and an account")
		}
	}
	return nil
}

func checkSize(raw json.RawMessage) error {
	if len(raw) > maxLong {
		return fmt.Errorf("is longer than %d bytes", maxLong)
	}
	return nil
}

func checkJSONText(s string) error {
	if !json.Valid([]byte(s)) {
		return errors.New("must be JSON in a string")
	}
	return nil
}

// CheckPhone says what is wrong with a telephone number: digits, perhaps with a plus before and
// spaces, dots, hyphens and brackets between.
func CheckPhone(s string) error {
	digits := 0
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '+' && i == 0, strings.ContainsRune(" .-()", r):
		default:
			return errors.New("must be a telephone number such as +1 512 555 0100")
		}
	}
	if digits < 5 || digits > 15 {
		return errors.New("must be a telephone number such as +1 512 555 0100")
	}
	return nil
}

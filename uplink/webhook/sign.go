package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers of a request.
const (
	HeaderSignature = "Vmsbridge-Signature"
	HeaderBridge    = "Vmsbridge-Bridge"
	HeaderType      = "Vmsbridge-Event-Type"
	HeaderKey       = "Idempotency-Key"
)

// Sign is the value of HeaderSignature for a body that is sent at a time.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(sum(secret, t, body))
}

func sum(secret, t string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// ErrSignature is in the chain of every error of Verify.
var ErrSignature = errors.New("the signature is not good")

// Verify is what a receiver written in Go does: it checks the value of HeaderSignature against a
// body as it came, and the time in it against now, give or take tolerance. That the same signature
// did not come before is the receiver's to check.
func Verify(secret, header string, body []byte, now time.Time, tolerance time.Duration) error {
	var t string
	var signatures [][]byte
	for part := range strings.SplitSeq(header, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "t":
			t = value
		case "v1":
			if raw, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, raw)
			}
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || len(signatures) == 0 {
		return fmt.Errorf("%w: the header is not of the form t=…,v1=…", ErrSignature)
	}
	want := sum(secret, t, body)
	for _, s := range signatures {
		if hmac.Equal(s, want) {
			if off := now.Sub(time.Unix(seconds, 0)); off > tolerance || off < -tolerance {
				return fmt.Errorf("%w: it is %v old", ErrSignature, off.Round(time.Second))
			}
			return nil
		}
	}
	return fmt.Errorf("%w: it is of another secret or another body", ErrSignature)
}

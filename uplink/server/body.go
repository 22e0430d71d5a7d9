package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"vmsbridge/uplink/vms"
)

// maxBodyBytes bounds what a client may send, unpacked; a scene with a hundred objects takes some
// 60 kB. The journal's own bound lies above it.
const maxBodyBytes = 512 << 10

// acceptEncoding in an answer tells the client in which coding bodies may be sent (RFC 7694 §3).
const acceptEncoding = "gzip"

// readJSON reads the body of a request whose content type is JSON or not said, plain or packed with
// gzip.
func readJSON(c *call, limit int64) ([]byte, error) {
	c.w.Header().Set("Accept-Encoding", acceptEncoding)
	if ct := c.r.Header.Get("Content-Type"); ct != "" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			return nil, vms.NewError(http.StatusUnsupportedMediaType, vms.ReasonContent,
				"Unsupported content type: `"+ct+"`, should be one of: `application/json`")
		}
	}
	var from io.Reader = http.MaxBytesReader(c.w, c.r.Body, limit)
	switch coding := strings.ToLower(strings.TrimSpace(c.r.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip", "x-gzip": // which means the same (RFC 9110 §8.4.1.3)
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, vms.NewError(http.StatusBadRequest, vms.ReasonJSON, "The body is not what gzip makes")
		}
		from = unpacked
	default:
		return nil, vms.NewError(http.StatusUnsupportedMediaType, vms.ReasonContent,
			fmt.Sprintf("Unsupported content encoding: %.40q, should be one of: %q", coding, acceptEncoding))
	}
	// One byte more than the limit tells a body that is too long once unpacked.
	var all bytes.Buffer
	all.Grow(int(min(max(c.r.ContentLength, 0), 8<<10)) + bytes.MinRead) // no more on a client's mere word
	_, err := all.ReadFrom(io.LimitReader(from, limit+1))
	body := all.Bytes()
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig), int64(len(body)) > limit:
		return nil, vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge,
			fmt.Sprintf("The body is larger than %d KiB", limit>>10))
	case err != nil:
		return nil, vms.NewError(http.StatusBadRequest, vms.ReasonJSON, "The body could not be read to its end")
	}
	// a byte order mark, which RFC 8259 §8.1 lets readers pass over
	return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), nil
}

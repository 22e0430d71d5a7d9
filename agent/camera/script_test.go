package camera

import (
	"fmt"
	"net"
	"testing"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/conn"
)

// script is a server that answers each request as it is told, for cameras that no RTSP library
// could play. A nil answer closes the connection.
func script(t *testing.T, answer func(*base.Request) *base.Response) (address string) {
	t.Helper()
	return listen(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		rc := conn.NewConn(c)
		for {
			what, err := rc.Read()
			if err != nil {
				return
			}
			req, isRequest := what.(*base.Request)
			if !isRequest {
				continue
			}
			res := answer(req)
			if res == nil {
				return
			}
			if res.Header == nil {
				res.Header = base.Header{}
			}
			res.Header["CSeq"] = req.Header["CSeq"]
			if rc.WriteResponse(res) != nil {
				return
			}
		}
	})
}

func ok(body []byte) *base.Response {
	res := &base.Response{StatusCode: base.StatusOK, Header: base.Header{}}
	if body != nil {
		res.Header["Content-Type"] = base.HeaderValue{"application/sdp"}
		res.Body = body
	}
	return res
}

// describes answers OPTIONS, and DESCRIBE with a body; everything else with 455.
func describes(body string) func(*base.Request) *base.Response {
	return func(req *base.Request) *base.Response {
		switch req.Method {
		case base.Options:
			return ok(nil)
		case base.Describe:
			return ok([]byte(body))
		}
		return &base.Response{StatusCode: base.StatusMethodNotValidInThisState}
	}
}

func status(code base.StatusCode) func(*base.Request) *base.Response {
	return func(req *base.Request) *base.Response {
		if req.Method == base.Options {
			return ok(nil)
		}
		return &base.Response{StatusCode: code, StatusMessage: fmt.Sprint("Code ", int(code))}
	}
}

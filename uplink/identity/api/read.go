package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// MaxBytes bounds a body. The largest that clients send is an account with two logos.
const MaxBytes = 1 << 20

// maxNames bounds how many parameters a request may have.
const maxNames = 500

// Read reads all parameters of a request: those of the query, and those of the body in whichever
// encoding it has. A body whose Content-Type is missing or unknown is looked at: JSON if it begins
// with a brace, else a form; so is one that is called a form but is a JSON object, which is what
// curl -d sends. A packed body is refused. It reads the body to its end. Errors are *api.Error:
// 400, or 413 for too large a body.
func Read(w http.ResponseWriter, r *http.Request) (*Params, error) {
	s := &Params{values: map[string]Value{}}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, Badf("the query cannot be read")
	}
	if err := s.texts(query, FromQuery); err != nil {
		return nil, err
	}
	if err := s.body(w, r); err != nil {
		return nil, err
	}
	s.cookies(r)
	return s, nil
}

// ReadHead reads what stands in front of the body: the parameters of the query, and the cookies. It
// touches no body. Errors are as of Read; the set holds the cookies then.
func ReadHead(r *http.Request) (*Params, error) {
	s := &Params{values: map[string]Value{}}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		err = Badf("the query cannot be read")
	} else {
		err = s.texts(query, FromQuery)
	}
	if err != nil {
		s = &Params{values: map[string]Value{}}
	}
	s.cookies(r)
	return s, err
}

func (s *Params) body(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, MaxBytes))
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return NewError(CodeTooLarge, "TooLarge", "the body is larger than 1 MiB")
	} else if err != nil {
		return Badf("the body could not be read to its end")
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil
	}
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	default:
		return Badf("the body is packed (%.40q), which is not taken here: send it plain, without Content-Encoding",
			coding)
	}
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an unreadable one counts as not said
	switch {
	case media == "multipart/form-data":
		return s.multipart(body, params["boundary"])
	case media == "application/json", body[0] == '{' &&
		(media != "application/x-www-form-urlencoded" || json.Valid(body)):
		return s.json(body)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Badf("the form in the body cannot be read")
	}
	return s.texts(form, FromForm)
}

// readAll is io.ReadAll in pieces that do not grow: half a body, whose rest may never come, takes
// no more than its bytes.
func readAll(from io.Reader) ([]byte, error) {
	var pieces [][]byte
	for size := 512; ; size = min(2*size, 16<<10) {
		piece := make([]byte, size)
		n, err := io.ReadFull(from, piece)
		pieces = append(pieces, piece[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return bytes.Join(pieces, nil), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// texts takes in the values of a query or a form.
func (s *Params) texts(values url.Values, from Source) error {
	for name, texts := range values {
		if err := s.put(name, Value{texts: texts}, from); err != nil {
			return err
		}
	}
	return nil
}

func (s *Params) put(name string, v Value, from Source) error {
	if name == sessionParam {
		var id string
		raw, err := v.As(Text)
		if err == nil {
			err = json.Unmarshal(raw, &id)
		}
		if err != nil {
			return Badf("%s: %v", name, err)
		}
		if id != "" && s.source == FromNowhere {
			s.session, s.source = id, from
		}
		return nil
	}
	if len(s.values) >= maxNames {
		return Badf("more than %d arguments", maxNames)
	}
	s.values[name] = v
	return nil
}

// json takes in a body that is a JSON object. A name that stands twice is refused: two readers
// could take it differently.
func (s *Params) json(body []byte) error {
	if !json.Valid(body) || body[0] != '{' {
		return Badf("the body is not a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	_, _ = dec.Token() // the brace
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		var raw json.RawMessage
		if err == nil && ok {
			err = dec.Decode(&raw)
		}
		if err != nil || !ok {
			return Badf("the body is not a JSON object")
		}
		if seen[name] {
			return Badf("argument given twice: %.80q", name)
		}
		seen[name] = true
		if err := s.put(name, Value{raw: raw}, FromBody); err != nil {
			return err
		}
	}
	return nil
}

// multipart takes in a multipart form. Every part is a value, also one with a file name; nothing is
// written to disk.
func (s *Params) multipart(body []byte, boundary string) error {
	if boundary == "" {
		return Badf("the multipart form has no boundary")
	}
	reader, values := multipart.NewReader(bytes.NewReader(body), boundary), url.Values{}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return s.texts(values, FromForm)
		}
		if err != nil || len(values) > maxNames {
			return Badf("the multipart form in the body cannot be read")
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return Badf("the multipart form in the body cannot be read")
		}
		if name := part.FormName(); strings.TrimSpace(name) != "" {
			values.Add(name, string(content))
		}
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	changesEvery = time.Second // between two checks for changes and of the credential
	// For a browser that does not read. HTTP/2 ends a stream at its deadline also where nothing is
	// written, so this is more than the time between two signs.
	changesWait = 45 * time.Second
)

// sending begins a stream of server-sent events with the first that is sent; without a name it is a
// sign of life. send reports whether that could be sent.
func sending(w http.ResponseWriter) (send func(name string, v any) bool) {
	out, began := http.NewResponseController(w), false
	return func(name string, v any) bool {
		if !began {
			began = true
			h := w.Header()
			h.Set("Content-Type", "text/event-stream")
			h.Set("Cache-Control", "no-store")
			h.Set("X-Accel-Buffering", "no")
			_ = out.SetReadDeadline(time.Time{})
		}
		raw, err := json.Marshal(v)
		if err != nil || out.SetWriteDeadline(time.Now().Add(changesWait)) != nil {
			return false
		}
		if name == "" {
			_, err = fmt.Fprint(w, ":\n\n")
		} else {
			_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, raw)
		}
		return err == nil && out.Flush() == nil
	}
}

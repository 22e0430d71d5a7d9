package api

import (
	"net/http"

	"vmsbridge/agent/arming"
)

// wishBody bounds what a wish to arm cameras may be, in bytes.
const wishBody = 64 << 10

// armed arms or disarms cameras as the request's body wishes, and returns all of them.
func armed(r *http.Request, a *arming.Arming, by string) ([]arming.State, error) {
	var w arming.Wish
	if !oneObject(r, wishBody, &w) {
		return nil, &arming.Refusal{Reason: "The body must be one JSON object with cameras, armed and seconds."}
	}
	w.By = by
	return a.Switch(r.Context(), w)
}

// Package api is what requests to /g/ and their answers have in common. Params are the parameters
// of a request: query, form, multipart form, JSON, or a body that does not say what it is; they
// know names and JSON values but not what these mean, and find the session id: a parameter before a
// cookie. Error is an answer that is not a success, with the interface's code. It is carried from
// where it is decided to where it is written.
//
// The interface orders the codes that an endpoint may give. When several conditions hold at once,
// the last of that order is given:
//
//	params, err := api.Read(w, r)
//	email, err := params.Text("email")
//	var held api.Held
//	held.Add(wrongPassword, errCredentials)
//	held.Add(suspended, errSuspended)
//	return held.Last(400, 401, 402, 460, 461, 412, 462) // nil if none held
package api

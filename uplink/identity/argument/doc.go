// Package argument reads the parameters of a request to /g: query, form, multipart form, JSON, or a body that does not
// say what it is, and finds the session id in the order of §5.6. A leaf over net/http; it knows names and JSON values but
// not what they mean.
//
//	set, err := argument.Read(w, r)
//	email, err := set.Text("email")
//	key := set.Session()
package argument

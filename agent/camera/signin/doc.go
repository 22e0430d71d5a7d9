// Package signin stands between the RTSP client and a camera where credentials are concerned: it
// takes away the challenges that must not be answered, completes the answers that the client gives,
// and remembers how it went. It never sees a password.
//
//	w := signin.New("viewer", false)
//	client := &gortsplib.Client{OnRequest: w.Request, OnResponse: w.Response}
//	if w.Outcome().OnlyBasic { … the camera wants the password in clear text … }
package signin

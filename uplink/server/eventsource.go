package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// A browser's EventSource sends no bearer token, and hands a message either to the listeners of its
// type or to onmessage. So include=signedUrls gives a stream an address that holds its token,
// encrypted, for this one stream; and what is opened by it gets each message twice, under one id:
// with its type, and without. A listener of either kind hears each event once. Programs that send a
// bearer token themselves read a stream as it is, and get each message once.

// streamSigned is how long the signed address of a stream is good, if its token is as long.
const streamSigned = 12 * time.Hour

// shown is a subscription as it is handed out: its stream's address is at the address that the
// caller used.
func (s *Server) shown(c *call, sub subscription) subscription {
	if sub.hook != nil {
		return sub
	}
	path := pathSubscriptions + "/" + sub.ID + "/stream"
	sub.Delivery.URL = s.here(c.r).String() + path
	if slices.Contains(c.args.list("include"), includeSigned) {
		_, token, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
		sub.Delivery.URL += "?" + argSignature + "=" +
			url.QueryEscape(s.seal(strings.TrimSpace(token), path, time.Now().Add(streamSigned)))
	}
	return sub
}

// signedStream is a request for a stream by its signed address, with the token that the address
// holds. Others stay as they are.
func (s *Server) signedStream(r *http.Request) (*http.Request, error) {
	path, is := strings.CutPrefix(r.URL.Path, pathSubscriptions)
	if is = is && strings.HasSuffix(path, "/stream"); !is || r.Header.Get("Authorization") != "" ||
		!r.URL.Query().Has(argSignature) {
		return r, nil
	}
	token, err := s.unseal(r.URL.Query().Get(argSignature), r.URL.Path, time.Now())
	if err != nil {
		return r, vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
			"The signed address of the stream "+err.Error()+": ask for the subscription with include="+
				includeSigned+" again")
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return r, nil
}

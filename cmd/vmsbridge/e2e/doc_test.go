// Package e2e drives the real programs as a user would: vmscloud, vmsbridge and RTSP cameras as
// processes of their own, real video over real sockets, and asks the service over HTTP what it has
// heard.
package e2e

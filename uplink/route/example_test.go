package route_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"vmsbridge/uplink/route"
)

// A path with one method: HEAD comes with GET, and other methods are refused with those that there
// are.
func Example() {
	r := route.New(route.Options{Fail: func(w http.ResponseWriter, _ *http.Request, _ string, err error) {
		status := http.StatusNotFound
		if _, ok := errors.AsType[*route.MethodError](err); ok {
			status = http.StatusMethodNotAllowed
		}
		w.WriteHeader(status)
	}})
	r.Handle("/cameras", route.Methods{"GET": func(w http.ResponseWriter, _ *http.Request) error {
		_, err := fmt.Fprint(w, "gate")
		return err
	}})
	for _, method := range []string{"GET", "HEAD", "DELETE"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(method, "/cameras/", nil))
		fmt.Printf("%s %d %q\n", method, w.Code, w.Header().Get("Allow"))
	}
	// Output:
	// GET 200 ""
	// HEAD 200 ""
	// DELETE 405 "GET, HEAD, OPTIONS"
}

package adminapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/admin"
)

// operator asks an API, without a listener between.
type operator struct {
	t   *testing.T
	mux *http.ServeMux
}

func newOperator(t *testing.T, routes []admin.Route) *operator {
	o := &operator{t: t, mux: http.NewServeMux()}
	for _, route := range routes {
		o.mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, request *http.Request) {
			value, err := route.Serve(request.Context(), request)
			if err != nil {
				w.(*answer).err = err
				return
			}
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	return o
}

// answer is what a route answers with, or fails with.
type answer struct {
	*httptest.ResponseRecorder
	err error
}

// ask asks for a path, and reads the answer into told.
func (o *operator) ask(method, path, body string, told any) error {
	o.t.Helper()
	w := &answer{ResponseRecorder: httptest.NewRecorder()}
	o.mux.ServeHTTP(w, httptest.NewRequestWithContext(o.t.Context(), method, path, strings.NewReader(body)))
	if w.err != nil {
		return w.err
	}
	if w.Code != http.StatusOK {
		return errors.New(strings.TrimSpace(w.Body.String()))
	}
	decoder := json.NewDecoder(w.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(told); err != nil {
		o.t.Fatalf("%s %s: %v", method, path, err)
	}
	return nil
}

// must asks for what there is.
func (o *operator) must(method, path, body string, told any) {
	o.t.Helper()
	if err := o.ask(method, path, body, told); err != nil {
		o.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// refused asks for what is refused, and returns the status and the code of that; 200 and "" if it is not.
func (o *operator) refused(method, path, body string, told any) (status int, code string) {
	o.t.Helper()
	err := o.ask(method, path, body, told)
	if fault, ok := errors.AsType[*admin.Fault](err); ok {
		return fault.Status, fault.Code
	}
	if err != nil {
		return http.StatusInternalServerError, ""
	}
	return http.StatusOK, ""
}

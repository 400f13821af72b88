package doors

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequestsOfTwoAuthoritiesAreRefused(t *testing.T) {
	var served *http.Request
	handler := unambiguous(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served = r }))
	for host, want := range map[string]int{"a.test": http.StatusOK, "A.TEST": http.StatusOK, "b.test": http.StatusBadRequest} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "https://a.test/mcp", nil)
		r.Header.Set("Host", host)
		handler.ServeHTTP(w, r)
		if w.Code != want || want == http.StatusOK && served.Header.Get("Host") != "" {
			t.Errorf("%s: got %d", host, w.Code)
		}
	}
}

// What HTTP/1.1 cannot say goes nowhere: its reader upstream would read another request.
func TestWhatHTTP1CannotSayIsRefused(t *testing.T) {
	reached := false
	handler := unambiguous(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	for target, header := range map[string]string{
		"/mcp?x HTTP/1.0": "X-Other", "/mcp?\xe4": "X-Other", "/mcp#a": "X-Other", "/mcp?a#b": "X-Other", "/m\x00cp": "X-Other",
		"/mcp": "Transfer_encoding", "/mcp?a": "Content_length",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "https://a.test/mcp", nil)
		r.RequestURI = target
		r.Header[header] = []string{"5"}
		if handler.ServeHTTP(w, r); w.Code != http.StatusBadRequest || reached {
			t.Errorf("%q with %s: got %d", target, header, w.Code)
		}
	}
	for _, host := range []string{"localhost: x", "localhost:a/b", "a\x80"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "https://a.test/mcp", nil)
		r.Host = host
		if handler.ServeHTTP(w, r); w.Code != http.StatusBadRequest || reached {
			t.Errorf("for %q: got %d", host, w.Code)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "https://a.test/mcp?a=%20b", nil)
	r.RequestURI = "/mcp?a=%20b"
	if handler.ServeHTTP(httptest.NewRecorder(), r); !reached {
		t.Error("an ordinary one is refused")
	}
}

package admin

import (
	"io"
	"net/http"
	"testing"
)

// The page can be had without the token, as the browser that asks for it has none yet; what it asks then
// cannot, and other names than loopback's get neither.
func TestThePageIsServedWithoutTheToken(t *testing.T) {
	file := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	_, url := run(t, Options{Token: canary, Metrics: metrics, Routes: []Route{greet}, Page: map[string]http.Handler{"/": file, "/ui/main.js": file}})
	for _, path := range []string{"/", "/ui/main.js"} {
		if got := get(t, url+path); got.status != 200 || got.body != "page" {
			t.Errorf("%s: got %d %q", path, got.status, got.body)
		}
		if got := get(t, url+path, "Host: evil.example"); got.status != 403 {
			t.Errorf("%s as evil.example: got %d, want 403", path, got.status)
		}
		if got := send(t, http.DefaultClient, "POST", url+path); got.status != 401 {
			t.Errorf("POST %s: got %d, want 401", path, got.status)
		}
	}
	for _, path := range []string{"/ui/", "/ui/other.js", "/ui/main.js/", "/ui/../metrics", "//", "/metrics", "/v1/greetings/you"} {
		if got := get(t, url+path); got.status != 401 {
			t.Errorf("%s without the token: got %d, want 401", path, got.status)
		}
	}
	if got := get(t, url+"/ui/other.js", "Authorization: Bearer "+canary); got.status != 404 {
		t.Errorf("a file that there is not: got %d, want 404", got.status)
	}
}

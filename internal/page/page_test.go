package page

import (
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, file http.Handler, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response := httptest.NewRecorder()
	file.ServeHTTP(response, request)
	return response
}

func TestEachFileIsServedUnderThePolicy(t *testing.T) {
	for at, file := range Files() {
		response := get(t, file)
		h := response.Header()
		if response.Code != 200 || response.Body.Len() == 0 || !strings.HasSuffix(h.Get("Content-Type"), "; charset=utf-8") {
			t.Errorf("%s: got %d, %d bytes of %q", at, response.Code, response.Body.Len(), h.Get("Content-Type"))
		}
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), part) {
				t.Errorf("%s: the policy lacks %s", at, part)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: got %v", at, h)
		}
		if again := get(t, file, "If-None-Match", h.Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s, asked for as one has it: got %d and %d bytes, want 304", at, again.Code, again.Body.Len())
		}
		if other := get(t, file, "If-None-Match", `"0"`); other.Code != 200 {
			t.Errorf("%s, asked for as it is no more: got %d, want 200", at, other.Code)
		}
	}
}

var (
	loaded    = regexp.MustCompile(`(?:from |import |src=|href=)"([^"#]+)"`)
	foreign   = regexp.MustCompile(`https?://|//[a-z]+\.[a-z]`)
	forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML| style=| on[a-z]+="`)
)

// A file names only files that are served, and nothing by which text could become markup or script.
func TestFilesLoadOnlyEachOther(t *testing.T) {
	served := Files()
	for at, file := range served {
		text := get(t, file).Body.String()
		for _, match := range loaded.FindAllStringSubmatch(text, -1) {
			if named := path.Join(path.Dir(at), match[1]); served[named] == nil {
				t.Errorf("%s loads %s, which is not served", at, named)
			}
		}
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s uses %q", at, found)
		}
		if found := foreign.FindString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")); found != "" {
			t.Errorf("%s names what is elsewhere: %s", at, found)
		}
	}
}

package admin

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"berth/internal/realtest"
)

const canary = "c4narY-s3cret"

var metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "berth_build_info 1\n") })

func TestPathsAndMethods(t *testing.T) {
	_, url := run(t, Options{Metrics: metrics})
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/livez", 200}, {"HEAD", "/livez", 200}, {"GET", "/readyz", 200}, {"GET", "/metrics", 200},
		{"POST", "/livez", 405}, {"DELETE", "/metrics", 405},
		{"GET", "/", 404}, {"GET", "/mcp", 404}, {"GET", "/livez/", 404}, {"GET", "/debug/pprof/", 404}, {"GET", "/debug/pprof/heap", 404}, {"GET", "/debug/vars", 404},
	} {
		if got := send(t, http.DefaultClient, tt.method, url+tt.path); got.status != tt.status {
			t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, got.status, tt.status)
		}
	}
}

func TestMetricsAreMissingWithoutAHandler(t *testing.T) {
	_, url := run(t, Options{})
	if got := get(t, url+"/metrics"); got.status != 404 {
		t.Errorf("got %d, want 404", got.status)
	}
}

func TestEverythingButLivezNeedsTheToken(t *testing.T) {
	_, url := run(t, Options{Metrics: metrics, Token: canary})
	if got := get(t, url+"/livez"); got.status != 200 {
		t.Errorf("/livez: got %d, want 200", got.status)
	}
	for _, path := range []string{"/readyz", "/readyz?verbose", "/metrics", "/debug/pprof/", "/absent", "/livez/", "//livez", "/%6cive%7a/../metrics"} {
		got := get(t, url+path)
		if got.status != 401 || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s without token: got %d, %q, want 401 and a challenge", path, got.status, got.header.Get("WWW-Authenticate"))
		}
	}
	for _, path := range []string{"/readyz", "/metrics"} {
		if got := get(t, url+path, "Authorization: bearer "+canary); got.status != 200 {
			t.Errorf("%s with the token: got %d, want 200", path, got.status)
		}
	}
}

func TestWrongCredentialsAreRefused(t *testing.T) {
	_, url := run(t, Options{Metrics: metrics, Token: canary})
	for _, headers := range [][]string{
		{"Authorization: Bearer " + canary + "x"}, {"Authorization: Bearer " + canary[1:]}, {"Authorization: Bearer"}, {"Authorization: " + canary},
		{"Authorization: Basic " + canary}, {"Authorization: Bearer x", "Authorization: Bearer " + canary},
		{"Authorization: Bearer " + canary, "Authorization: Bearer x"}, {"Cookie: token=" + canary},
	} {
		if got := get(t, url+"/metrics", headers...); got.status != 401 {
			t.Errorf("%v: got %d, want 401", headers, got.status)
		}
	}
}

func TestNewRefusesToListenOffLoopbackWithoutAToken(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"} {
		s, err := New(t.Context(), Options{Listen: address, Log: slog.New(slog.DiscardHandler)})
		if !errors.Is(err, ErrTokenRequired) {
			t.Errorf("%s: got %v, want ErrTokenRequired", address, err)
		}
		if s != nil {
			s.listener.Close()
		}
	}
}

func TestNewReportsAnAddressThatIsTaken(t *testing.T) {
	s, _ := run(t, Options{})
	if _, err := New(t.Context(), Options{Listen: s.Addr().String(), Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("got no error for a port that is taken")
	}
}

// A web page can make a browser send requests to 127.0.0.1 under the page's own
// name; a loopback listener must not answer to it.
func TestALoopbackListenerAnswersToLoopbackNamesOnly(t *testing.T) {
	_, url := run(t, Options{Metrics: metrics})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:9901": 200, "127.0.0.1": 200, "127.8.8.8:1": 200, "[::1]:9901": 200, "[::1]": 200,
		"evil.example": 403, "evil.example:9901": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "10.0.0.1": 403, "0.0.0.0": 403,
	} {
		for _, path := range []string{"/livez", "/metrics"} {
			if got := get(t, url+path, "Host: "+host); got.status != want {
				t.Errorf("%s as %s: got %d, want %d", path, host, got.status, want)
			}
		}
	}
}

// Neither answers nor logs show the token, given right, wrong or elsewhere.
func TestTheTokenIsNeverShown(t *testing.T) {
	var log realtest.Journal
	_, url := run(t, Options{
		Token: canary, Metrics: metrics,
		Checks: func() []Check { panic("at the first check") },
		Log:    slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	for _, path := range []string{"/livez", "/metrics", "/absent", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1"} {
		for _, header := range []string{"X-None: 1", "Authorization: Bearer " + canary, "Authorization: Basic " + canary} {
			got := get(t, url+path, header)
			var out bytes.Buffer
			got.header.Write(&out)
			if out.WriteString(got.body); strings.Contains(out.String(), canary) {
				t.Errorf("%s with %s: the answer shows the token", path, header)
			}
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), "GET", url+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+canary)
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Errorf("got %d from a check that panics, want a cut connection", response.StatusCode)
	}
	if got := log.String(); !strings.Contains(got, "at the first check") || strings.Contains(got, canary) {
		t.Errorf("got log %s, want the panic and not the token", got)
	}
	if got := get(t, url+"/livez"); got.status != 200 {
		t.Errorf("/livez after a panic: got %d, want 200", got.status)
	}
}

func TestAnOversizedHeaderIsRefused(t *testing.T) {
	_, url := run(t, Options{})
	if got := get(t, url+"/livez", "X-Big: "+strings.Repeat("x", 2*maxHeader)); got.status != 431 {
		t.Errorf("got %d, want 431", got.status)
	}
}

package admin

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Anybody may ask whether berth is ready, and is told nothing else.
func TestAListenerForProbesTellsWhetherAndNotWhy(t *testing.T) {
	ready := true
	s, err := NewProbes(t.Context(), Options{Listen: "0.0.0.0:0", Token: canary, Checks: func() []Check {
		return []Check{{Name: "pool secret", Probe: func() (bool, string) { return ready, "upstream secret is away" }}}
	}, Metrics: metrics, Routes: []Route{greet}, Pprof: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.Addr().String(), "[::]"), ":")
	url := "http://127.0.0.1:" + port
	for path, want := range map[string]int{
		"/livez": 200, "/readyz": 200, "/readyz?verbose": 200, "/": 404, "/metrics": 404, "/v1/status": 404, "/v1/greetings/you": 404, "/debug/pprof/": 404,
	} {
		got := get(t, url+path, "Host: pod-7.internal")
		if got.status != want || strings.Contains(got.body, "secret") {
			t.Errorf("%s: got %d %q, want %d", path, got.status, got.body, want)
		}
	}
	ready = false
	if got := get(t, url+"/readyz?verbose"); got.status != 503 || strings.Contains(got.body, "secret") {
		t.Errorf("not ready: got %d %q", got.status, got.body)
	}
	ready = true
	s.SetDraining()
	if got := get(t, url+"/readyz"); got.status != 503 {
		t.Errorf("draining: got %d", got.status)
	}
}

func TestProfilesAreBehindTheKeyAndTheToken(t *testing.T) {
	_, without := run(t, Options{Token: canary})
	if got := get(t, without+"/debug/pprof/", "Authorization: Bearer "+canary); got.status != 404 {
		t.Errorf("without the key: got %d, want 404", got.status)
	}
	_, url := run(t, Options{Token: canary, Pprof: true})
	for path, want := range map[string]int{"": 200, "heap?debug=1": 200, "goroutine": 200, "cmdline": 404, "profile?seconds=0": 400, "profile?seconds=301": 400, "trace?seconds=x": 400} {
		if got := get(t, url+"/debug/pprof/"+path, "Authorization: Bearer "+canary); got.status != want {
			t.Errorf("%q: got %d, want %d", path, got.status, want)
		}
		if got := get(t, url+"/debug/pprof/"+path); got.status != 401 {
			t.Errorf("%q without the token: got %d, want 401", path, got.status)
		}
	}
}

// To measure is work, which a page of another origin could have a browser ask for though it cannot read it.
func TestPagesOfOtherOriginsMeasureNothing(t *testing.T) {
	_, url := run(t, Options{Pprof: true})
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200} {
		if got := get(t, url+"/debug/pprof/goroutine", "Sec-Fetch-Site: "+site); got.status != want {
			t.Errorf("%s: got %d, want %d", site, got.status, want)
		}
	}
}

// A port alone is one of this machine, and what the listener says of itself is passed on.
func TestAClientNamesThisMachineWhereOnlyAPortIsNamed(t *testing.T) {
	s, url := run(t, Options{Routes: []Route{greet}})
	_, port, _ := strings.Cut(s.Addr().String(), ":")
	var told struct{ Name string }
	if err := NewClient(":"+port, "").Call(t.Context(), "POST", "/v1/greetings/you", nil, &told); err != nil {
		t.Errorf("by port alone: %v", err)
	}
	named := strings.Replace(url, "127.0.0.1", "berth.127.0.0.1.example", 1)
	if err := NewClient(named, "").Call(t.Context(), "GET", "/", nil, nil); err == nil {
		t.Error("another name is answered")
	}
}

// What is measured for longer than an answer may take otherwise is answered all the same.
func TestAProfileOutlastsTheListenersBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		serve(t, newServer(Options{Log: slog.New(slog.DiscardHandler), Pprof: true}, p, false))
		conn, begin := p.dial(), time.Now()
		defer conn.Close()
		go io.WriteString(conn, "GET /debug/pprof/mutex?seconds=60 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != 200 || err != nil || len(body) == 0 || time.Since(begin) < time.Minute {
			t.Errorf("after %v: %d, %d bytes, %v", time.Since(begin), response.StatusCode, len(body), err)
		}
	})
}

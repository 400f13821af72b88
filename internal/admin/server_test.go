package admin

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// run makes a server on loopback, serves until the test ends and returns its URL.
func run(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	return s, "http://" + s.Addr().String()
}

func serve(t *testing.T, s *Server) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

type answer struct {
	status int
	header http.Header
	body   string
}

// get sends GET with headers as "Name: value".
func get(t *testing.T, url string, headers ...string) answer {
	t.Helper()
	return send(t, http.DefaultClient, http.MethodGet, url, headers...)
}

func send(t *testing.T, client *http.Client, method, url string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Add(name, value)
		if name == "Host" {
			request.Host = value
		}
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

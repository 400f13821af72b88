package webhook

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var (
	oldSecret = []byte("0123456789abcdef0123456789abcdef")
	newSecret = []byte("fedcba9876543210fedcba9876543210")
	loopback  = Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
)

func written(secret []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(secret) }

func clientOf(t *testing.T, url string, g Guard) *Client {
	t.Helper()
	c := NewClient(Receiver{URL: url, Secrets: [][]byte{oldSecret, newSecret}, Guard: g, Timeout: 300 * time.Millisecond, Concurrency: 2}, func(bool) {})
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

// The receiver's side is the library that Standard Webhooks publishes.
func TestEachSecretVerifiesAMessage(t *testing.T) {
	var header http.Header
	var body []byte
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	})
	a := clientOf(t, url, loopback).Send(t.Context(), Message{ID: "msg_1", Body: []byte(`{"type":"task.completed"}`)})
	if a.Outcome != Delivered || header.Get("Webhook-Id") != "msg_1" || header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %+v with %v", a, header)
	}
	for _, secret := range [][]byte{oldSecret, newSecret} {
		verifier, err := standard.NewWebhook(written(secret))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(body, header); err != nil {
			t.Error(err)
		}
		if verifier.Verify(append(body, ' '), header) == nil {
			t.Error("a body that was changed verifies")
		}
	}
	other, _ := standard.NewWebhook(written([]byte("another secret, another, another")))
	if other.Verify(body, header) == nil {
		t.Error("another secret verifies")
	}
}

// The example of the specification's libraries: id, time, body and secret are theirs.
func TestTheSignatureIsTheSpecifications(t *testing.T) {
	secret, err := ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := Message{"msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`)}.signatures(time.Unix(1614265330, 0), [][]byte{secret})
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatAReceiverAnswersIsTheOutcome(t *testing.T) {
	var followed atomic.Int32
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	answer := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
		}
	}
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		want   Outcome
		after  time.Duration
	}{
		{"accepted", answer(202), Delivered, 0},
		{"no content", answer(204), Delivered, 0},
		{"an endless answer", func(w http.ResponseWriter, _ *http.Request) { io.CopyN(w, zeros{}, 1<<20) }, Delivered, 0},
		{"redirected", answer(302, "Location", elsewhere), Redirected, 0},
		{"redirected with its body", answer(307, "Location", elsewhere), Redirected, 0},
		{"gone", answer(410), Gone, 0},
		{"bad", answer(400), Rejected, 0},
		{"failing", answer(500), Rejected, 0},
		{"too many", answer(429, "Retry-After", "7"), Rejected, 7 * time.Second},
		{"busy", answer(503, "Retry-After", "9"), Rejected, 9 * time.Second},
		{"busy for ever", answer(503, "Retry-After", "99999999999999999999"), Rejected, math.MaxInt32 * time.Second},
		{"not a time", answer(503, "Retry-After", "soon"), Rejected, 0},
		{"hanging", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, TimedOut, 0},
		{"resetting", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}, Unreachable, 0},
		{"no HTTP", says("%s\r\n\r\n"), Unreachable, 0},
		{"no status", says("HTTP/1.1 %s OK\r\n\r\n"), Unreachable, 0},
		{"no header", says("HTTP/1.1 200 OK\r\n%s\r\n\r\n"), Unreachable, 0},
		{"no length", says("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"), Unreachable, 0},
		{"a header without end", says("HTTP/1.1 200 OK\r\nX: %s" + strings.Repeat("x", 100<<10)), Unreachable, 0},
		{"nothing", says("%.0s"), Unreachable, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := clientOf(t, serve(t, tt.handle)+"/T0PSECRET?key=T0PSECRET", loopback).Send(t.Context(), Message{ID: "m"})
			if a.Outcome != tt.want || a.After != tt.after || (a.Err == nil) != (tt.want == Delivered) {
				t.Errorf("got %+v, want %s after %v", a, tt.want, tt.after)
			}
			if a.Err != nil && strings.Contains(a.Err.Error(), "T0PSECRET") {
				t.Errorf("the error tells the URL: %v", a.Err)
			}
		})
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects followed", n)
	}
}

// says answers with text in which %s is what was asked for, and ends the connection.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		fmt.Fprintf(conn, text, r.URL)
		conn.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A name that leads to a private address is refused as it is dialled, and so is one whose other address is.
func TestNothingIsSentToAPrivateAddress(t *testing.T) {
	var reached atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		a := clientOf(t, "http://"+host+":"+port, Guard{}).Send(t.Context(), Message{ID: "m"})
		if a.Outcome != Forbidden {
			t.Errorf("%s: got %+v", host, a)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d messages reached it", n)
	}
}

// A proxy of the environment would be dialled in the receiver's place, whose address nobody would judge.
func TestNoProxyIsAsked(t *testing.T) {
	var asked atomic.Int32
	t.Setenv("HTTP_PROXY", serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	a := clientOf(t, "http://hooks.invalid/x", loopback).Send(t.Context(), Message{ID: "m"})
	if a.Outcome == Delivered || asked.Load() != 0 {
		t.Errorf("got %+v, %d asked", a, asked.Load())
	}
}

func TestAReceiverThatFailsIsLeftAlone(t *testing.T) {
	c := NewClient(Receiver{}, func(bool) {})
	failing := Answer{Outcome: TimedOut, Err: context.DeadlineExceeded}
	refusing := answered(400, "", time.Now())
	for range 3 * failuresToOpen {
		turn, err := c.Turn()
		if err != nil {
			t.Fatal("a receiver that refuses messages is left alone:", err)
		}
		turn(&refusing)
	}
	for range failuresToOpen {
		turn, err := c.Turn()
		if err != nil {
			t.Fatal(err)
		}
		turn(&failing)
	}
	if _, err := c.Turn(); err != ErrAlone {
		t.Errorf("got %v", err)
	}
}

package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/auditlog"
	"berth/internal/journal"
	"berth/internal/mcp"
	"berth/internal/trouble"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// pollFrom is a client's poll.
func pollFrom(ctx context.Context) *inbound.Call {
	r := &wire.Request{Method: wire.MethodPost, URL: &url.URL{Path: "/mcp"}, Header: wire.NewHeader("User-Agent", "node"), RemoteAddr: "192.0.2.7:1234"}
	call := mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodGetTask, Era: mcp.EraModern, TaskID: "t-1"}
	return &inbound.Call{Began: time.Now(), HTTP: r.WithContext(ctx), Settings: &inbound.Settings{}, From: netip.MustParseAddr("192.0.2.7"), Message: mcp.Message{Calls: []mcp.Call{call}}}
}

// What a record was told decides its outcome; it asks nobody.
func TestOutcomeIsWhatARecordWasTold(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	broken := errors.New("broken")
	for _, c := range []struct {
		ctx     context.Context
		err     error
		meant   int
		cutting bool
		want    string
	}{
		{t.Context(), nil, 200, true, "ok"},
		{t.Context(), nil, 404, false, "ok"},
		{left, nil, 200, true, "ok"},
		{t.Context(), nil, 502, false, "upstream_error"},
		{t.Context(), fault.Method, 405, false, "refused"},
		{t.Context(), fault.StreamReset, 502, false, "failed"},
		{t.Context(), fmt.Errorf("reading: %w", fault.AnswerTooLarge), 200, false, "failed"},
		{t.Context(), fault.ErrClientGone, 200, true, "client_gone"},
		{left, broken, 200, false, "client_gone"},
		{left, broken, 200, true, "cut"},
		{t.Context(), fault.StreamShutdown, 200, false, "cut"},
		{left, fault.StreamShutdown, 200, false, "cut"},
	} {
		var r Record
		New(nil, Options{}).Begin(&r, pollFrom(c.ctx))
		r.Err, r.Meant, r.Cutting = c.err, c.meant, c.cutting
		if got := r.outcome(); got != c.want {
			t.Errorf("%v, %d, cutting: %v: got %s, want %s", c.err, c.meant, c.cutting, got, c.want)
		}
	}
}

// What berth cuts is no request that it did not take: it is warned of, and blamed on nobody who waited.
func TestWhatIsCutIsToldAsThat(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		ctx     context.Context
		err     error
		code    int
		cutting bool
		want    string
	}{
		"a stream that was told": {t.Context(), fault.StreamShutdown, mcp.CodeInternal, false, "-32603 this berth ends before the response came (shutdown)"},
		"who was told nothing":   {left, fault.ErrClientGone, 0, true, "proxy: cut at the end of the time to drain"},
	} {
		t.Run(name, func(t *testing.T) {
			var access, warned, audited bytes.Buffer
			out, book := journal.New(&audited), trouble.New(nil)
			deeds, err := auditlog.Open(auditlog.Options{Where: auditlog.Stderr, Stderr: out})
			if err != nil {
				t.Fatal(err)
			}
			var r Record
			New(nil, Options{
				Access: slog.New(slog.NewJSONHandler(&access, nil)), Logger: slog.New(slog.NewJSONHandler(&warned, nil)), Troubles: book, Deeds: deeds,
			}).Begin(&r, pollFrom(c.ctx))
			r.Err, r.Code, r.Cutting, r.Status, r.Meant = c.err, c.code, c.cutting, 200, 200
			r.Close(time.Now())
			var got map[string]any
			if err := json.Unmarshal(access.Bytes(), &got); err != nil || got["outcome"] != "cut" || got["error"] != c.want {
				t.Errorf("got %v, %v, want it cut, and %q", got, err, c.want)
			}
			if !strings.Contains(warned.String(), "a request was cut at the end of the drain") {
				t.Errorf("the log says %q", &warned)
			}
			out.Flush()
			if refusals, _ := book.Events(trouble.Refusals); audited.Len() > 0 || len(refusals) > 0 {
				t.Errorf("the audit log says %q, and there are the refusals %v", &audited, refusals)
			}
		})
	}
}

// A trouble is one of when it happened, as that which ends a call after an hour: among those of the last five minutes.
func TestATroubleIsOfWhenTheRequestEnded(t *testing.T) {
	book := trouble.New(nil)
	var r Record
	call := pollFrom(t.Context())
	call.Began = time.Now().Add(-time.Hour)
	New(nil, Options{Troubles: book}).Begin(&r, call)
	r.Err, r.Code, r.Status, r.Meant = &mcp.Error{Reason: mcp.ReasonHolderLost}, -32603, 502, 502
	ended := time.Now()
	r.Close(ended)
	for _, n := range book.Numbers() {
		if n.Kind == trouble.HolderLost && (n.Recent != 1 || !n.Last.Equal(ended)) {
			t.Errorf("got %d of the last five minutes, the last at %v, want one at %v", n.Recent, n.Last, ended)
		}
	}
	if events, _ := book.Events(trouble.HolderLost); len(events) != 1 || !events[0].At.Equal(ended) {
		t.Errorf("got %v, want one of %v", events, ended)
	}
}

// A line is the same from a handler of slog's and from the journal.
func TestALineTellsWhatTheRecordWasTold(t *testing.T) {
	var plain, waits bytes.Buffer
	lines := journal.New(&waits)
	for _, access := range []*slog.Logger{slog.New(slog.NewJSONHandler(&plain, nil)), lines.Patient(slog.LevelInfo)} {
		var r Record
		New(nil, Options{Access: access}).Begin(&r, pollFrom(t.Context()))
		u := &routing.Upstream{Name: "a", URL: &url.URL{Host: "a:80"}}
		r.StartSpan()
		r.SendTo(u, time.Time{})
		r.Source, r.Status, r.Meant, r.Written, r.Begun = "bound", 200, 200, 42, r.call.Began
		r.Code, r.Err, r.Holder, r.Session = -32603, errors.New("größer, \"as\" said\u2028\x00"), "b\x7f", "secret"
		r.MovedFrom = strings.Repeat("a", clipped+1)
		r.Close(time.Now())
	}
	lines.Flush()
	if got, want := untimed(waits.String()), untimed(plain.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, text := range []*bytes.Buffer{&plain, &waits} {
		var got map[string]any
		if err := json.Unmarshal(text.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for name, want := range map[string]any{
			"holder": "b?", "moved_from": strings.Repeat("a", clipped) + "…",
			"msg": "request", "method": "tasks/get", "task": "t-1", "source": "bound", "upstream": "a", "attempts": 1.0,
			"status": 200.0, "bytes": 42.0, "client": "192.0.2.7", "agent": "node", "code": -32603.0,
		} {
			if got[name] != want {
				t.Errorf("%s: got %v, want %v in %s", name, got[name], want, text)
			}
		}
	}
}

// Nothing of a line is taken from another whose request differs.
func TestALineSaysWhatItsRequestIs(t *testing.T) {
	var plain, waits bytes.Buffer
	lines := journal.New(&waits)
	for _, access := range []*slog.Logger{slog.New(slog.NewJSONHandler(&plain, nil)), lines.Patient(slog.LevelInfo)} {
		reporter := New(nil, Options{Access: access})
		for i := range 4 * keptAfter {
			call := pollFrom(t.Context())
			call.HTTP.Method = []string{"POST", "post"}[i/7%2]
			call.HTTP.URL.Path = []string{"/mcp", "/mcq", "/\"\x00", strings.Repeat("a", clipped)}[i/2%4]
			call.Message.Calls[0].Era = []mcp.Era{mcp.EraModern, mcp.EraLegacy}[i%2]
			call.Message.Calls[0].Version = []string{"1", "2"}[i/5%2]
			call.From = netip.AddrFrom4([4]byte{192, 0, 2, byte(i / 3 % 2)})
			call.HTTP.Header.Set("User-Agent", []string{"node", "bode", "\x00", strings.Repeat("a", clipped+i/2%3)}[i/3%4])
			var r Record
			reporter.Begin(&r, call)
			r.Source, r.Upstream, r.MovedFrom = []sticky.Source{"", "a", "b"}[i/2%3], []string{"a", "b", "é"}[i/3%3], []string{"", "c"}[i/4%2]
			r.Status, r.Code, r.Meant = []int{200, 264}[i/5%2], []int{0, -1}[i/6%2], []int{200, 502}[i/7%2]
			r.attempts, r.Holder = i/3%3, []string{"", "h"}[i/5%2]
			r.Close(time.Now())
		}
	}
	lines.Flush()
	got, want := strings.Split(untimed(waits.String()), "\n"), strings.Split(untimed(plain.String()), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("line %d: got %s, want %s", i, got[i], want[i])
		}
	}
}

// untimed is a line without what differs from one to the next.
func untimed(line string) string {
	return regexp.MustCompile(`"(time":"[^"]*|(first_)?ms":[0-9.]*)`).ReplaceAllString(line, "")
}

func TestARecordOfWhatIsKnownCostsNoAllocation(t *testing.T) {
	out := journal.New(io.Discard)
	deeds, err := auditlog.Open(auditlog.Options{Where: auditlog.Stderr, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	reporter := New(nil, Options{
		Access: out.Patient(slog.LevelInfo), Meter: sdkmetric.NewMeterProvider(), Last: new(Decisions), Troubles: trouble.New(nil), Deeds: deeds,
	})
	u, call := &routing.Upstream{Name: "a"}, pollFrom(t.Context())
	var r Record
	if n := testing.AllocsPerRun(100, func() {
		r = Record{}
		reporter.Begin(&r, call)
		r.StartSpan()
		r.SendTo(u, time.Time{})
		r.Source, r.Status, r.Meant, r.Begun = "bound", 200, 200, time.Now()
		r.Close(time.Now())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	reporter := New(nil, Options{Access: journal.New(io.Discard).Patient(slog.LevelInfo), Meter: sdkmetric.NewMeterProvider(), Last: new(Decisions)})
	u, call := &routing.Upstream{Name: "a"}, pollFrom(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		var r Record
		reporter.Begin(&r, call)
		r.StartSpan()
		r.SendTo(u, time.Time{})
		r.Source, r.Status, r.Meant, r.Begun = "bound", 200, 200, time.Now()
		r.Close(time.Now())
	}
}

package proxy_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// untilGone waits for its caller to leave, and tells when it did.
func untilGone(gone chan<- time.Duration) faultFunc {
	return func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		started := time.Now()
		<-r.Context().Done()
		gone <- time.Since(started)
		return true
	}
}

// In the modern era the client's departure is the cancellation (2026-07-28,
// "Cancellation"), wherever the answer stands.
func TestModernDepartureCancelsAtOnce(t *testing.T) {
	begun := map[string]func(w http.ResponseWriter){
		"before the header": func(http.ResponseWriter) {},
		"in the stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", eventsType)
			_, _ = io.WriteString(w, progressEvent)
			_ = http.NewResponseController(w).Flush()
		},
		"in the JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
		},
	}
	for name, begin := range begun {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan time.Duration, 1)
				f := newRig(t, rigOptions{})
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					begin(w)
					return untilGone(gone)(w, r, body)
				})
				ctx, leave := context.WithTimeout(t.Context(), 7*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.call("modern").WithContext(ctx)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if took := <-gone; took != 7*time.Second {
					t.Errorf("the upstream was told after %v, want 7s", took)
				}
				if f.pool.Find("a").Silent() || f.pool.Find("a").DownFor() != 0 || f.calls("tools/call") != 1 {
					t.Error("a client that left counts against the upstream")
				}
			})
		})
	}
}

func TestStandingStreamEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		ctx, leave := context.WithTimeout(t.Context(), time.Hour+time.Second) // between two comments
		defer leave()
		resp := f.open(f.request(ctx, http.MethodGet, "", legacyHeader(session)...))
		_, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
		synctest.Wait()
		if n := f.servers[0].Hangups(http.MethodGet); n != 1 {
			t.Errorf("%d streams ended at the upstream, want 1", n)
		}
	})
}

// In the legacy era a hang-up is no cancellation (2025-11-25, "Sending Messages"):
// the tool runs on, and the task that it hands out is known.
func TestLegacyHangUpLetsTheCallRunOn(t *testing.T) {
	answers := map[string]faultFunc{
		"JSON": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Minute)
			return say(jsonType, creations[1].body)(w, r, body)
		},
		"events": streams(func(_ context.Context, write func(string)) {
			for range 60 {
				write(progressEvent)
				time.Sleep(time.Second)
			}
			write("data: " + creations[1].body + "\n\n")
		}),
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				f.servers[0].inject(answer)
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.call("legacy").WithContext(ctx)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := f.servers[0].Hangups("tools/call"); n != 0 {
					t.Errorf("%d calls were broken off", n)
				}
				if got := f.owner("t-1"); got != "a" {
					t.Errorf("owner is %q, want a", got)
				}
			})
		})
	}
}

func TestLegacyCallIsNotReadOnForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Linger = time.Minute }})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(untilGone(gone))
		ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
		defer leave()
		if resp, err := f.client.Do(f.call("legacy").WithContext(ctx)); err == nil {
			resp.Body.Close()
		}
		if took := <-gone; took != time.Minute+3*time.Second {
			t.Errorf("read on for %v, want 1m3s", took)
		}
		if f.pool.Find("a").DownFor() != 0 {
			t.Error("what berth ended itself counts against the upstream")
		}
	})
}

// A client that was cut off goes on with its stream: servers let one reader at a time have that, so that berth does not read on.
func TestAClientTakesItsStreamOver(t *testing.T) {
	for name, tc := range map[string]struct {
		own   bool // in the session that the stream is of
		event string
		ends  bool
	}{
		"its stream":           {true, "1", true},
		"another of its":       {true, "7", false},
		"that of somebody's":   {false, "1", false},
		"behind many an event": {true, "60", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				in := f.initialize()
				session := in
				if !tc.own {
					session = f.initialize()
				}
				var left time.Time
				f.servers[0].inject(streams(func(ctx context.Context, write func(string)) {
					write("id: 1\n" + progressEvent)
					if tc.event == "60" {
						for i := range 100 {
							write(fmt.Sprintf("id: %d\n%s", i, progressEvent))
						}
					}
					<-ctx.Done()
					left = time.Now()
				}))
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.legacyRequest(ctx, session, "tools/call", `"name":"work"`)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(2 * time.Second)
				var came time.Time
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
					if r.Method == http.MethodGet {
						came = time.Now()
						w.Header().Set("Content-Type", eventsType)
					}
					return r.Method == http.MethodGet
				})
				f.do(f.request(t.Context(), http.MethodGet, "", append(legacyHeader(in), "Last-Event-Id", tc.event)...))
				synctest.Wait()
				if came.IsZero() || tc.ends != !left.IsZero() || tc.ends && !came.After(left) {
					t.Errorf("the server was left at %v, and asked at %v", left, came)
				}
			})
		})
	}
}

// A server may take a while to see that a stream's reader has left, and refuses the next one until then: it is asked again, though there is no
// other berth.
func TestAClientTakesItsStreamOverFromAServerThatIsSlowToSee(t *testing.T) {
	for _, tc := range []struct {
		sees, leaves time.Duration // after the reader has left; before the client goes on
		status       int
	}{
		{300 * time.Millisecond, 2 * time.Second, http.StatusOK},
		{300 * time.Millisecond, -5 * time.Millisecond, http.StatusOK}, // berth sees that once the server has refused
		{time.Minute, 2 * time.Second, http.StatusConflict},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 1})
			session := f.initialize()
			var read atomic.Bool
			f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				switch {
				case r.Method != http.MethodGet:
					return streams(func(ctx context.Context, write func(string)) {
						read.Store(true)
						write("id: 1\n" + progressEvent)
						<-ctx.Done()
						time.Sleep(tc.sees)
						read.Store(false)
					})(w, r, body)
				case read.Load():
					time.Sleep(10 * time.Millisecond)
					w.WriteHeader(http.StatusConflict)
				default:
					w.Header().Set("Content-Type", eventsType)
				}
				return true
			})
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Second, leave)
			go func() {
				if resp, err := f.client.Do(f.legacyRequest(ctx, session, "tools/call", `"name":"work"`)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
			}()
			time.Sleep(3*time.Second + tc.leaves)
			resp := f.do(f.request(t.Context(), http.MethodGet, "", append(legacyHeader(session), "Last-Event-Id", "1")...))
			if resp.status != tc.status {
				t.Errorf("%+v: got %d", tc, resp.status)
			}
			time.Sleep(2 * time.Minute) // in which the server sees it
		})
	}
}

// A client whose stream broke goes on with it though berth has just looked whether it can, and the server has not seen yet that berth left.
func TestAClientGoesOnWithAStreamThatBerthHasLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1})
		session := f.initialize()
		var read atomic.Bool
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			switch {
			case r.Method != http.MethodGet:
				return breakAfter("id: 1\n"+progressEvent, false)(w, r, body)
			case read.Swap(true):
				w.WriteHeader(http.StatusConflict)
				return true
			}
			return streams(func(ctx context.Context, write func(string)) {
				write(": hello\n\n")
				<-ctx.Done()
				time.Sleep(100 * time.Millisecond)
				read.Store(false)
			})(w, r, body)
		})
		resp := f.open(f.legacyRequest(t.Context(), session, "tools/call", `"name":"work"`))
		_, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
		ctx, leave := context.WithCancel(t.Context())
		resp = f.open(f.request(ctx, http.MethodGet, "", append(legacyHeader(session), "Last-Event-Id", "1")...))
		if resp.StatusCode != http.StatusOK {
			t.Errorf("got %d", resp.StatusCode)
		}
		leave()
		resp.Body.Close()
		time.Sleep(time.Second) // in which the server sees it
	})
}

// Who leaves before it was given the answer is told as gone, though the answer is read to its end; who has it is not.
func TestALegacyClientThatLeavesIsToldAsGone(t *testing.T) {
	result := "data: " + `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}` + "\n\n"
	type told struct {
		outcome       string
		status, bytes float64
	}
	for name, tc := range map[string]struct {
		answer faultFunc
		want   told
	}{
		"before a byte of JSON": {func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Minute)
			return say(jsonType, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)(w, r, body)
		}, told{"client_gone", 0, 0}},
		"before the response on a stream": {streams(func(_ context.Context, write func(string)) {
			write(progressEvent)
			time.Sleep(time.Minute)
			write(progressEvent)
			write(result)
		}), told{"client_gone", 200, float64(len(progressEvent))}},
		"after the response": {streams(func(_ context.Context, write func(string)) {
			write(result)
			time.Sleep(5 * time.Second)
			write(": the end\n\n")
		}), told{"ok", 200, float64(len(result) + len(": the end\n\n"))}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				access, meter := new(lines), sdkmetric.NewManualReader()
				f := newRig(t, rigOptions{options: func(o *proxy.Options) {
					o.AccessLog = slog.New(slog.NewJSONHandler(access, nil))
					o.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(meter))
				}})
				f.servers[0].inject(tc.answer)
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				request := f.request(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work"}}`, legacyHeader("")...)
				if resp, err := f.client.Do(request); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				records := access.take(t)
				if len(records) != 1 {
					t.Fatalf("got %v, want one record", records)
				}
				if got := (told{records[0]["outcome"].(string), records[0]["status"].(float64), records[0]["bytes"].(float64)}); got != tc.want {
					t.Errorf("got %v, want %v", got, tc.want)
				}
				var all metricdata.ResourceMetrics
				if err := meter.Collect(t.Context(), &all); err != nil {
					t.Fatal(err)
				}
				for _, m := range slices.Concat(scopes(all)...) {
					if m.Name != "mcp.client.operation.duration" {
						continue
					}
					for _, point := range m.Data.(metricdata.Histogram[float64]).DataPoints {
						if failed, ok := point.Attributes.Value("error.type"); ok && point.Count > 0 {
							t.Errorf("the exchange ended with %s, and went well", failed.AsString())
						}
					}
				}
			})
		})
	}
}

// scopes are the metrics of each scope.
func scopes(all metricdata.ResourceMetrics) (metrics [][]metricdata.Metrics) {
	for _, scope := range all.ScopeMetrics {
		metrics = append(metrics, scope.Metrics)
	}
	return metrics
}

// A result that is read on for a client which has left was given to nobody: its instance is waited for once more, until somebody has had
// the time to ask for it again.
func TestAResultThatItsClientDidNotWaitForIsNotGiven(t *testing.T) {
	for what, answer := range map[string]faultFunc{
		"JSON": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(10 * time.Second)
			return say(jsonType, withID(resultUnder("ID"), body))(w, r, body)
		},
		"a stream": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return streams(func(_ context.Context, write func(string)) {
				write(progressEvent)
				time.Sleep(10 * time.Second)
				write("data: " + withID(resultUnder("ID"), body) + "\n\n")
			})(w, r, body)
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1})
				counted := func() int {
					synctest.Wait()
					owned, err := f.bindings.Owned(t.Context(), "p", "a")
					if err != nil {
						t.Fatal(err)
					}
					return owned.Tasks
				}
				core := f.newCoreTask("", 3600)
				f.servers[0].inject(onMethod("tasks/result", answer))
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.legacyRequest(ctx, "", "tasks/result", byID(core))); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(20 * time.Second)
				if n := counted(); n != 1 {
					t.Errorf("%d tasks count as the instance's, want the one whose result nobody has", n)
				}
				if r := f.legacy("", "tasks/result", byID(core)); r.message(t).Result == nil {
					t.Errorf("got %d %s", r.status, r.body)
				}
				if n := counted(); n != 0 {
					t.Errorf("%d tasks count as the instance's once the result was given", n)
				}
			})
		})
	}
}

// The result of a task that comes down the stream with which its client goes on was given, as one that comes down the first.
func TestAResultOnAStreamThatGoesOnIsGiven(t *testing.T) {
	const related = `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ID"}}`
	for name, tc := range map[string]struct {
		says string
		want int
	}{
		"its result":    {`"content":[]` + related, 0},
		"another one's": {`"content":[]`, 1},
		"its state":     {`"taskId":"ID","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000` + related, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 1})
			session := f.initialize()
			core := f.newCoreTask(session, 3600)
			f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				if r.Method == http.MethodGet {
					return say(eventsType, `data: {"jsonrpc":"2.0","id":1,"result":{`+strings.ReplaceAll(tc.says, "ID", core)+`}}`+"\n\n")(w, r, body)
				}
				return methodIn(body) == "tasks/result" && breakAfter("id: 1\ndata:\n\n", true)(w, r, body)
			})
			f.legacy(session, "tasks/result", byID(core))
			f.do(f.request(t.Context(), http.MethodGet, "", append(legacyHeader(session), "Last-Event-Id", "1")...))
			synctest.Wait()
			if owned, err := f.bindings.Owned(t.Context(), "p", "a"); err != nil || owned.Tasks != tc.want {
				t.Errorf("%s: got %+v, %v, want %d tasks", name, owned, err, tc.want)
			}
		})
	}
}

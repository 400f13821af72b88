package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/storage"
	"berth/internal/wire"
)

// oddly has a header bear what is no text, and withhold a name.
func oddly(h *wire.Header) {
	h.Add("X-Odd", "a\xff")
	h.Add("X-Odd", "b")
	h.Withhold("Date")
}

func TestARequestIsAnsweredByAnotherBerth(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var got *exchange.Request
		there := w.start(func(_ context.Context, r *exchange.Request) (*wire.Response, error) {
			got = r
			response := answer(aJSON, `{"result":"`+secret+`"}`)
			oddly(response.Header)
			response.Own, response.Unasked = true, true
			return response, nil
		})
		here := w.start(nobody)
		asked := request()
		asked.Host, asked.Caller = "elsewhere", "caller\xff"
		asked.Unsent = exchange.Unsent{Authorization: true, Digest: "digest"}
		response, err := here.Pass(t.Context(), there.Name(), asked, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, asked) {
			t.Errorf("got request %+v, want %+v", got, asked)
		}
		want := answer(aJSON, "")
		oddly(want.Header)
		want.Own, want.Unasked = true, true
		if body := exchangetest.ReadAll(t, response); body != `{"result":"`+secret+`"}` {
			t.Errorf("got body %q", body)
		}
		if want.Body, want.ContentLength = response.Body, int64(len(secret)+13); !reflect.DeepEqual(response, want) {
			t.Errorf("got %+v, want %+v", response, want)
		}
	})
}

func TestARequestMayHaveNoBody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		asked := &exchange.Request{Method: wire.MethodDelete, URL: &url.URL{}, Header: new(wire.Header)}
		there := w.start(func(_ context.Context, r *exchange.Request) (*wire.Response, error) {
			if !reflect.DeepEqual(r, asked) {
				t.Errorf("got %+v, want %+v", r, asked)
			}
			return answer(aJSON, ""), nil
		})
		response, err := w.start(nobody).Pass(t.Context(), there.Name(), asked, 0)
		if err != nil {
			t.Fatal(err)
		}
		if body := exchangetest.ReadAll(t, response); body != "" {
			t.Errorf("got %q", body)
		}
	})
}

func TestEventsComeAsTheyGo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			response, body := stream(events)
			go func() {
				defer body.Close()
				for n := range 20 {
					time.Sleep(7 * time.Second)
					fmt.Fprintf(body, "data: %d\n\n", n)
				}
			}()
			return response, nil
		})
		here := w.start(nobody)
		began := time.Now()
		response := here.pass(t, there)
		if took := time.Since(began); took > 0 {
			t.Errorf("the head took %v", took)
		}
		buffer := make([]byte, 100)
		for n := range 20 {
			got, err := response.Body.Read(buffer)
			if want := fmt.Sprintf("data: %d\n\n", n); err != nil || string(buffer[:got]) != want {
				t.Fatalf("got %q and %v, want %q", buffer[:got], err, want)
			}
			if late := time.Since(began) - time.Duration(n+1)*7*time.Second; late > 0 {
				t.Errorf("event %d came %v late", n, late)
			}
		}
		if rest := exchangetest.ReadAll(t, response); rest != "" {
			t.Errorf("got %q after the end", rest)
		}
	})
}

func TestABurstOfEventsIsFewParts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			response, body := stream(events)
			go func() {
				defer body.Close()
				for n := range 1000 {
					time.Sleep(time.Millisecond)
					fmt.Fprintf(body, "data: %d\n\n", n)
				}
			}()
			return response, nil
		})
		here := w.start(nobody)
		before := there.line.ops.Load()
		body := exchangetest.ReadAll(t, here.pass(t, there))
		if n := strings.Count(body, "data:"); n != 1000 || !strings.HasSuffix(body, "data: 999\n\n") {
			t.Errorf("got %d events", n)
		}
		if ops := there.line.ops.Load() - before; ops > 150 {
			t.Errorf("got %d operations for 1000 events in a second", ops)
		}
	})
}

func TestAWriterWaitsForASlowReader(t *testing.T) {
	for _, lost := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world) {
			var gone atomic.Int64
			there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
				response, body := stream(aJSON)
				go func() {
					defer body.Close()
					for n := range 100 {
						_, _ = body.Write([]byte(strings.Repeat(string(rune('a'+n%26)), 64<<10)))
						gone.Add(1)
					}
				}()
				return response, nil
			})
			here := w.start(nobody)
			response := here.pass(t, there)
			here.line.muffle.Store(lost)
			there.line.muffle.Store(lost)
			time.Sleep(3 * time.Minute)
			if parts := w.count("relay:part:"); parts > window {
				t.Errorf("got %d parts in the store, want at most %d", parts, window)
			}
			if n := gone.Load(); n > 40 {
				t.Errorf("got %d pieces written for nobody", n)
			}
			body := exchangetest.ReadAll(t, response)
			if len(body) != 100*64<<10 {
				t.Fatalf("got %d bytes", len(body))
			}
			for n := range 100 {
				if c := body[n*64<<10]; c != byte('a'+n%26) || body[(n+1)*64<<10-1] != c {
					t.Fatalf("piece %d is out of order", n)
				}
			}
		})
	}
}

func TestWhoClosesAnAnswerWaitsUntilItIsCleared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			return answer(aJSON, strings.Repeat("a", 6*partSize)), nil // so that what was read is noted
		})
		here := w.start(nobody)
		response := here.pass(t, there)
		here.line.slow = time.Second
		exchangetest.ReadAll(t, response)
		if n := w.count("relay:exchange:") + w.count("relay:read:"); n > 0 {
			t.Errorf("got %d records of an exchange that is closed", n)
		}
	})
}

func TestEachOfManyGetsItsOwnAnswer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there := w.start(counted(&executed, func(_ context.Context, r *exchange.Request) (*wire.Response, error) {
			time.Sleep(2 * time.Second)
			return answer(aJSON, r.Caller), nil
		}))
		here := w.start(nobody)
		var passing sync.WaitGroup
		for n := range 200 {
			passing.Go(func() {
				r := request()
				r.Caller = fmt.Sprint(n)
				response, err := here.Pass(t.Context(), there.Name(), r, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if body := exchangetest.ReadAll(t, response); body != r.Caller {
					t.Errorf("got %q, want %q", body, r.Caller)
				}
			})
		}
		passing.Wait()
		if n := executed.Load(); n != 200 {
			t.Errorf("got %d executions, want 200", n)
		}
	})
}

func TestALargeBodyIsPassedOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(func(_ context.Context, r *exchange.Request) (*wire.Response, error) {
			return answer(aJSON, string(r.Body)), nil
		})
		here := w.start(nobody)
		r := request()
		r.Body = []byte(strings.Repeat(secret, MaxBody/len(secret)))
		response, err := here.Pass(t.Context(), there.Name(), r, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if body := exchangetest.ReadAll(t, response); body != string(r.Body) {
			t.Errorf("got %d bytes, want %d", len(body), len(r.Body))
		}
		r.Body = make([]byte, MaxBody+1)
		_, err = here.Pass(t.Context(), there.Name(), r, time.Minute)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %+v", e)
		}
	})
}

func TestAFailureIsToldWithItsMarks(t *testing.T) {
	for _, told := range []error{
		&exchange.SendError{Err: errors.New("refused"), Refused: true},
		fmt.Errorf("wrapped: %w", &exchange.SendError{Err: errors.New("late"), Sent: true, TimedOut: true}),
		&exchange.SendError{Err: errors.New("starved"), Starved: true},
		errors.New("any other"),
	} {
		inWorld(t, func(t *testing.T, w *world) {
			there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) { return nil, told })
			_, err := w.start(nobody).Pass(t.Context(), there.Name(), request(), time.Minute)
			got := *sendError(t, err)
			want := exchange.SendError{Sent: true}
			if e, ok := errors.AsType[*exchange.SendError](told); ok {
				want = *e
			}
			if !strings.Contains(got.Err.Error(), told.Error()) {
				t.Errorf("got %v, want what says %v", got.Err, told)
			}
			if got.Err, want.Err = nil, nil; got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestABrokenAnswerIsAnError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			response, body := stream(aJSON)
			go func() {
				_, _ = body.Write([]byte("half"))
				body.CloseWithError(errors.New("the line broke"))
			}()
			return response, nil
		})
		response := w.start(nobody).pass(t, there)
		body, err := io.ReadAll(response.Body)
		if string(body) != "half" || err == nil || !strings.Contains(err.Error(), "the line broke") {
			t.Errorf("got %q and %v", body, err)
		}
		_ = response.Body.Close()
	})
}

func TestAStoreThatIsNotSharedPassesNothingOn(t *testing.T) {
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = store.Close() // whoever asks it fails
	m := New(store, "", givenKeys(t), slog.New(slog.DiscardHandler))
	if m.Name() == "" {
		t.Error("it has no name")
	}
	_, err = m.Pass(t.Context(), "another", &exchange.Request{URL: &url.URL{}}, 0)
	if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) {
		t.Errorf("got %+v", e)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := m.Run(ctx, nil); err != nil {
		t.Errorf("Run: %v", err)
	}
}

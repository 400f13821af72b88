package h1_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip asks for get over c, and wants a proper answer.
func roundTrip(t *testing.T, c *duplex, in *bufio.Reader) {
	t.Helper()
	if _, err := io.WriteString(c, get); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(in, nil)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", r, err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
}

// A head has its time from its first byte on, however its bytes come, on new connections and on kept ones: those who
// trickle are cut off, and hold nobody up.
func TestSlowHeadsAreCutOff(t *testing.T) {
	for _, kept := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			listener := newHandoff()
			defer ours.serve(listener, new(recorder))()
			var running sync.WaitGroup
			defer running.Wait()
			var open atomic.Int64
			for range 20 {
				c, err := listener.dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if kept {
					roundTrip(t, c, bufio.NewReader(c))
				}
				open.Add(1)
				running.Go(func() {
					if kept {
						time.Sleep(idle - time.Second) // that is another time
					}
					io.WriteString(c, "GET / HTTP/1.1\r\n")
					for {
						time.Sleep(3 * time.Second)
						if _, err := io.WriteString(c, "A: b"+strings.Repeat("c", 3)+"\r\n"); err != nil {
							return
						}
					}
				})
				running.Go(func() {
					defer open.Add(-1)
					io.Copy(io.Discard, c)
				})
			}
			if kept {
				time.Sleep(idle - time.Second)
			}
			time.Sleep(headerRead - 5*time.Second)
			synctest.Wait()
			if got := open.Load(); got != 20 {
				t.Errorf("kept %v: %d are open before their time is over, want 20", kept, got)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := open.Load(); got != 0 {
				t.Errorf("kept %v: %d are open after their time, want 0", kept, got)
			}
			c, _ := listener.dial(t.Context())
			defer c.Close()
			roundTrip(t, c, bufio.NewReader(c))
		})
	}
}

// One that says nothing is closed when its idle time is over, and not before.
func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newHandoff()
		defer ours.serve(listener, new(recorder))()
		c, err := listener.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for range 3 {
			roundTrip(t, c, in)
			time.Sleep(idle - time.Second)
		}
		begun := time.Now()
		if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 || time.Since(begun) > 2*time.Second {
			t.Errorf("after its time: %q, %v, after %v", rest, err, time.Since(begun))
		}
	})
}

// A body may take its time: what bounds it is the handler's affair.
func TestSlowBodiesArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, rec := newHandoff(), new(recorder)
		defer ours.serve(listener, rec)()
		c, err := listener.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, piece := range inPieces(post(chunked, "3\r\nabc\r\n2;x\r\nde\r\n0\r\nX: 1\r\n\r\n"), 60) {
			c.Write(piece)
		}
		in := bufio.NewReader(c)
		if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != 200 {
			t.Fatalf("got %v, %v", r, err)
		} else {
			io.Copy(io.Discard, r.Body)
		}
		io.WriteString(c, post("Content-Length: 5\n", ""))
		for _, b := range "hello" {
			time.Sleep(2 * headerRead)
			io.WriteString(c, string(b))
		}
		if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != 200 || rec.seen[1].body != "hello" {
			t.Fatalf("got %v, %v, %v", r, err, rec.seen)
		}
	})
}

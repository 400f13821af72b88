package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// allocatedBy returns what the process allocated while do ran. It bounds from
// above what any part of it held.
func allocatedBy(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// heap returns what lives on the heap.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// What is large streams: of a message some 256 KiB are held, of the rest one
// buffer's worth, and nothing of each event of many.
func TestLargeAnswersStream(t *testing.T) {
	text := strings.Repeat("x", 64<<10)
	events := strings.Repeat(progressEvent, 100)
	cases := map[string]struct {
		contentType, begin, filler, end string
		size                            int64
	}{
		"100 MiB of JSON":             {jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`, text, `"}]}}`, 100 << 20},
		"one line of 64 MiB in event": {eventsType, `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`, text, "\"}]}}\n\n", 64 << 20},
		"200,000 events":              {eventsType, "", events, doneEvent, int64(2000 * len(events))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{tcp: true, size: 1})
			var held uint64 // at most, while the answer was on its way
			f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set("Content-Type", c.contentType)
				_, _ = io.WriteString(w, c.begin)
				filler := []byte(c.filler)
				for i := range c.size / int64(len(filler)) {
					_, _ = w.Write(filler)
					if i%400 == 399 {
						held = max(held, heap())
					}
				}
				_, _ = io.WriteString(w, c.end)
				return true
			})
			before := heap()
			resp := f.open(f.call("modern"))
			defer resp.Body.Close()
			got, err := io.Copy(io.Discard, resp.Body)
			if want := c.size + int64(len(c.begin)+len(c.end)); got != want || err != nil {
				t.Errorf("%d bytes arrived, %v; want %d", got, err, want)
			}
			if held > before+4<<20 {
				t.Errorf("%d KiB held on the way", (held-before)>>10)
			}
		})
	}
}

// A slow client slows its upstream down; nothing piles up in between.
func TestSlowClientSlowsItsUpstream(t *testing.T) {
	const events = 20_000
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		var written atomic.Int64
		f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
			for range events {
				write(progressEvent)
				written.Add(int64(len(progressEvent)))
			}
			write(doneEvent)
		}))
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		synctest.Wait() // everybody stands still now
		if n := written.Load(); n > 64<<10 {
			t.Errorf("the upstream could write %d bytes to a client that reads none", n)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if want := int64(events*len(progressEvent) + len(doneEvent)); n != want || err != nil {
			t.Errorf("%d bytes arrived, %v; want %d", n, err, want)
		}
	})
}

// Nothing is inflated: what was sent encoded, though berth asks for no encoding,
// passes as it is.
func TestEncodedAnswerPassesUnread(t *testing.T) {
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	zero := make([]byte, 1<<20)
	for range 32 {
		if _, err := zip.Write(zero); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	f := newRig(t, rigOptions{tcp: true, size: 1})
	f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
		return true
	})
	var r reply
	allocated := allocatedBy(func() { r = f.do(f.call("modern")) })
	if r.body != bomb.String() || r.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %d with %d bytes, %v", r.status, len(r.body), r.header)
	}
	if allocated > 8<<20 {
		t.Errorf("%d MiB allocated for %d KiB", allocated>>20, bomb.Len()>>10)
	}
	if got := f.servers[0].LastHeader("tools/call").Get("Accept-Encoding"); got != "identity" {
		t.Errorf("asked for encoding %q", got)
	}
}

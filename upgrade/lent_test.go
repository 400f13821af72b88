package upgrade

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// lentCreation is one whose headers are gone once its request was answered: its envelope's, and what clears them.
func lentCreation(argument string) (Creation, func()) {
	c := creation(rule(nil), argument)
	header, own := Pairs{"Authorization", "Bearer lent"}, Pairs{"Mcp-Method", "tools/call"}
	c.Call.Header, c.Call.Own = header, own
	return c, func() {
		for _, h := range []Pairs{header, own} {
			h[0], h[1] = "X-Next", "of the next request"
		}
	}
}

// What a request lends, another one has once this one was answered.
func TestHeldCallKeepsNoHeadersOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		time.Sleep(testLease)
		c, over := lentCreation("made result")
		h, err := b.Maker.Create(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		over()
		h.Start(nil)
		handle(h)

		// One whose creation failed for the store, and whose handle went out all the same.
		c, over = lentCreation("unsure result")
		last := false
		b.line.refuse(func(op, key string) bool {
			last = last || op == "swap" && strings.HasPrefix(key, "upgrade:once:")
			return false
		})
		b.line.muteOne(func() bool { return last })
		if _, _, err := b.Maker.CreateOnce(t.Context(), c, "key", nil); err == nil {
			t.Fatal("made, without an answer of the store")
		}
		over()
		b.line.muteOne(nil)
		b.line.refuse(nil)

		id := b.hand(t, rule(nil), "asking ask:k result")
		synctest.Wait()
		c, over = lentCreation("")
		if err := b.Steps.Update(context.Background(), id, somebody, inputs("k", `1`), &c.Call.Envelope); err != nil {
			t.Fatal(err)
		}
		over()
		time.Sleep(time.Minute)
		up.mu.Lock()
		defer up.mu.Unlock()
		if len(up.requests) < 4 { // two of the one that asks
			t.Fatalf("the tool got %d requests", len(up.requests))
		}
		for _, r := range up.requests {
			if _, others := r.headers["X-Next"]; others || len(r.headers["Authorization"]) != 1 || r.headers["Authorization"][0] == "of the next request" {
				t.Errorf("sent with %v: %s", r.headers, r.body)
			}
		}
	})
}

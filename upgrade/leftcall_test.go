package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/mcp/inquiry"
	"berth/routing"
	"berth/upgrade/ledger"
)

// oneMessage is an Exchange that says one message.
type oneMessage struct{ message []byte }

func (m *oneMessage) Next() (Message, error) {
	if m.message == nil {
		return Message{}, io.EOF
	}
	said := m.message
	m.message = nil
	return Message{Data: said}, nil
}

func (m *oneMessage) Close() {}

// asksFor is an upstream that asks for a sample, from this state on.
func asksFor(_ context.Context, _ *routing.Upstream, c *Call) (Exchange, error) {
	return &oneMessage{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"1","inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[]}}}}}`, c.ID)}, nil
}

// A call that its upstream may hold while its client is asked is given up there with a task that fails, and with no other.
func TestAFailedTaskGivesUpTheCallThatWaits(t *testing.T) {
	refuses := errors.New("refused")
	for name, c := range map[string]struct {
		argument string
		send     func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error)
		update   bool
		lost     bool // what the store has of the call
		givesUp  bool
	}{
		"an error":                 {argument: "call ask:k error", update: true, givesUp: true},
		"an answer that breaks":    {argument: "call ask:k break", update: true, givesUp: true},
		"a result":                 {argument: "call ask:k result", update: true},
		"an error at once":         {argument: "call error"},
		"one that waits":           {argument: "call ask:k result"},
		"a round that is refused":  {argument: "call ask:k result", update: true, send: func(context.Context, *routing.Upstream, *Call) (Exchange, error) { return nil, refuses }, givesUp: true},
		"a call that is lost":      {argument: "call ask:k result", update: true, lost: true, givesUp: true},
		"a question for no client": {argument: "call", send: asksFor, givesUp: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var given []*Call
				var b *berth
				up := newTool()
				b = startBerths(t, 1, settings{
					giveUp: func(_ context.Context, _ *routing.Upstream, c *Call) error {
						given = append(given, c)
						return nil
					},
					send: func(ctx context.Context, u *routing.Upstream, call *Call) (Exchange, error) {
						if c.send != nil && (!c.update || strings.Contains(string(call.Body), "inputResponses")) {
							return c.send(ctx, u, call)
						}
						return up.send(ctx, b, u, call)
					},
				}, up)[0]
				made := creation(rule(nil), c.argument)
				made.Declares = inquiry.Declared("roots")
				h, err := b.Maker.Create(t.Context(), made)
				if err != nil {
					t.Fatal(err)
				}
				h.Start(nil)
				id := handle(h)
				synctest.Wait()
				if c.lost {
					if err := b.line.Delete(t.Context(), ledger.CallKey(id)); err != nil {
						t.Fatal(err)
					}
				}
				if c.update {
					if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", `"yes"`), &Envelope{Header: Pairs{"Authorization", "Bearer of the answer"}}); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if (len(given) == 1) != c.givesUp {
					t.Fatalf("given up %d times; the task is %+v", len(given), b.see(t, id).Task)
				}
				if c.givesUp {
					b.mustState(t, id, Failed)
				}
				if by := "Bearer of the answer"; c.givesUp && (!strings.Contains(string(given[0].Body), `"requestState":"1"`) || c.update && given[0].Headers().Get("Authorization") != by) {
					t.Errorf("given up: %+v", given[0])
				}
			})
		})
	}
}

package upgrade

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/routing"
)

// A round that is refused after the tool has asked says nothing of what it did before that: the call is not one that was not executed.
func TestARefusalOfALaterRoundLeavesTheCallUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := &mcp.Error{Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: mcp.NotExecuted, Message: "the server answered 429"}
		var b *berth
		up := newTool()
		b = startBerths(t, 1, settings{send: func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) {
			if strings.Contains(string(c.Body), "inputResponses") || strings.Contains(string(c.Body), "refused") {
				return nil, refusal
			}
			return up.send(ctx, b, u, c)
		}}, up)[0]
		asks, refused := b.hand(t, rule(nil), "call ask:k result"), b.hand(t, rule(nil), "refused")
		synctest.Wait()
		b.mustState(t, asks, InputRequired)
		if err := b.Steps.Update(t.Context(), asks, somebody, inputs("k", `"yes"`), &Envelope{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f := b.see(t, asks).failure(t); f.Data.MayHaveExecuted == nil || !*f.Data.MayHaveExecuted || f.Message != refusal.Message {
			t.Errorf("a later round: got %+v", f)
		}
		if f := b.see(t, refused).failure(t); f.Data.MayHaveExecuted == nil || *f.Data.MayHaveExecuted {
			t.Errorf("the first round: got %+v", f)
		}
	})
}

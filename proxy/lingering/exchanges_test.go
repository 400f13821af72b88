package lingering

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

var in = Session{Path: "/mcp", ID: "s"}

// Each who resumes a stream hears that the reading of it has ended, also where several do at once, or it ended by itself.
func TestWhoeverResumesHearsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(nil)
		ctx, end := context.WithCancelCause(t.Context())
		x := l.begin(ctx, in, "1", end)
		x.Tell("e")
		go l.read(x, time.Hour, nil)
		synctest.Wait()
		ended := make(chan bool)
		for range 2 {
			go func() { ended <- l.end(t.Context(), in, "e") }()
		}
		synctest.Wait()
		time.AfterFunc(time.Second, func() { l.close(x) })
		for range 2 {
			if !<-ended {
				t.Error("the exchange was not found")
			}
		}
		<-l.overOf(x)
		if l.end(t.Context(), in, "e") {
			t.Error("an exchange that is over was found")
		}
	})
}

// Only what its client left may be taken over, by an event of its own.
func TestWhatIsReadByItsClientIsNotTakenOver(t *testing.T) {
	l := New(nil)
	ctx, end := context.WithCancelCause(t.Context())
	x := l.begin(ctx, in, "1", end)
	defer l.close(x)
	x.Tell("e")
	if l.end(t.Context(), in, "e") || ctx.Err() != nil {
		t.Error("it was ended under its client")
	}
}

// A cancellation means the request by the value of its id, however either spells that.
func TestACancellationMeansAnIDByItsValue(t *testing.T) {
	for _, c := range []struct {
		id, cancels string
		want        bool
	}{
		{`7`, `7.0`, true}, {`8.0`, `8`, true}, {`1e1`, `10`, true}, {`"\u00e9"`, `"é"`, true}, {`"a\/b"`, `"a/b"`, true},
		{`7`, `"7"`, false}, {`9007199254740993`, `9007199254740992`, false},
	} {
		l := New(nil)
		ctx, end := context.WithCancelCause(t.Context())
		x := l.begin(ctx, in, c.id, end)
		x.Own()
		l.cancel(t.Context(), in, c.cancels)
		if IsCancelled(ctx) != c.want {
			t.Errorf("%s by %s: got %v", c.id, c.cancels, !c.want)
		}
		l.close(x)
	}
}

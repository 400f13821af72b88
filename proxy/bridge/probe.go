package bridge

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// probeTime bounds what finding out an upstream's era may hold a request up.
const probeTime = 10 * time.Second

// needsBridge reports whether the upstream speaks the legacy era alone. While nobody knows it is
// asked, as the caller of out: server/discover first, then initialize, in a session that is ended
// at once. What says nothing of its era (401, 403, 5xx, a header that it does not take, silence)
// leaves the question open, and the request goes there as it is; unclear says that server/discover was answered so.
func (f *face) needsBridge(ctx context.Context, out *exchange.Request) (needs, unclear bool) {
	return f.find(ctx, func(ctx context.Context) (needs, unclear bool) { return f.askEra(ctx, out) })
}

// askEra asks the upstream, as the caller of out, what it speaks.
func (f *face) askEra(ctx context.Context, out *exchange.Request) (needs, unclear bool) {
	switch speaks, refuses := f.askModern(ctx, out); {
	case speaks:
		f.u.Pool().Speaks(f.u.Upstream, mcp.EraModern, nil)
		return false, false
	case !refuses:
		return false, true
	}
	return f.opensSession(ctx, out), false
}

// doubt returns the answer of an upstream that has shown that it is modern. One that contradicts that has the upstream asked anew: if it is
// of the legacy era by now it is bridged from then on, and so is this request if nothing of it was executed. An answer that passes in any case
// waits for nothing.
func (f *face) doubt(ctx context.Context, out *exchange.Request, response *wire.Response, wait time.Duration) (*wire.Response, error) {
	if out.Method != wire.MethodPost {
		return response, nil
	}
	c, refusal := f.read(out)
	switch {
	case refusal != nil:
	case outbound.RefusesEra(mcp.EraModern, c.Method, c.id, response):
		out.Written = false // it is looked at again
		if f.isLegacyByNow(ctx, out) {
			response.Body.Close()
			return f.serve(ctx, out, wait)
		}
	case outbound.DoubtsEra(c.id, response) && f.mayDoubt():
		own := legacy.OwnPost(out, nil) // whose out is may use it again
		go f.alone(context.WithoutCancel(ctx), func(ctx context.Context) (bool, bool) { return f.askAnew(ctx, own) })
	}
	return response, nil
}

// doubtsApart is how often an upstream is asked whether it is modern still, at most.
const doubtsApart = 10 * time.Second

// mayDoubt reports whether the upstream is to be asked whether it is modern still, by who asks this first.
func (f *face) mayDoubt() bool {
	before, now := f.doubted.Load(), time.Now()
	return (before == nil || now.Sub(*before) >= doubtsApart) && f.doubted.CompareAndSwap(before, &now)
}

// isLegacyByNow reports whether the upstream, which was modern and has refused that era in its answer to out, speaks the legacy era
// alone.
func (f *face) isLegacyByNow(ctx context.Context, out *exchange.Request) bool {
	isLegacy, _ := f.alone(ctx, func(ctx context.Context) (isLegacy, unclear bool) {
		if speaks, known := f.u.SpeaksModern(); known && !speaks || !f.mayDoubt() {
			return known && !speaks, false
		}
		return f.askAnew(ctx, out)
	})
	return isLegacy
}

// askAnew is askEra of an upstream that was asked before.
func (f *face) askAnew(ctx context.Context, out *exchange.Request) (needs, unclear bool) {
	defer func() { f.doubted.Store(new(time.Now())) }()
	return f.askEra(ctx, out)
}

// isLegacyBy reports whether the answer to a server/discover of the caller's, which went there as it is, refuses the modern era, and
// the upstream opens a session in its name. The answer can be read afterwards as it was.
func (f *face) isLegacyBy(ctx context.Context, out *exchange.Request, response *wire.Response) bool {
	if out.Header.Get(mcp.HeaderMethod) != mcp.MethodDiscover {
		return false
	}
	c, refusal := f.read(out)
	if refusal != nil || !outbound.RefusesEra(mcp.EraModern, c.Method, c.id, response) {
		return false
	}
	legacy, _ := f.find(ctx, func(ctx context.Context) (needs, unclear bool) { return f.opensSession(ctx, out), false })
	return legacy
}

// find has ask find out what the upstream speaks, for one request at a time, while nobody knows it. A silence is an answer to all who wait.
func (f *face) find(ctx context.Context, ask func(ctx context.Context) (needs, unclear bool)) (needs, unclear bool) {
	if speaks, known := f.u.SpeaksModern(); known {
		return !speaks, false
	}
	before := f.silences.Load()
	return f.alone(ctx, func(ctx context.Context) (needs, unclear bool) {
		switch speaks, known := f.u.SpeaksModern(); {
		case known: // meanwhile
			return !speaks, false
		case f.silences.Load() != before:
			return false, true
		}
		if needs, unclear = ask(ctx); ctx.Err() != nil {
			f.silences.Add(1)
		}
		return needs, unclear
	})
}

// alone runs ask for one request at a time.
func (f *face) alone(ctx context.Context, ask func(ctx context.Context) (needs, unclear bool)) (needs, unclear bool) {
	select {
	case f.probing <- struct{}{}:
		defer func() { <-f.probing }()
	case <-ctx.Done():
		return false, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime) // what the server opens nobody else can end
	defer cancel()
	return ask(ctx)
}

// opensSession reports whether the upstream, which refuses the modern era, opens a session of the legacy one.
func (f *face) opensSession(ctx context.Context, out *exchange.Request) bool {
	opened, err := f.u.Opener(out).Open(ctx, f.u.Upstream, session.Opening{
		Initialize: eras.InitializeFor([]byte(outbound.OwnID), legacy.Version, []byte("{}"), nil),
		Accept:     func(*session.Session) error { return nil },
	})
	if err != nil {
		f.u.Log.Debug("an upstream speaks neither era, as far as it says", "upstream", f.u.Name, "error", err)
		return false
	}
	opened.End(ctx)
	f.tasks.Support.Note(opened.Result)
	f.u.NoteLegacy(true)
	f.u.Log.Info("upstream speaks the legacy era: modern calls are bridged", "pool", f.u.Pool().Name(), "upstream", f.u.Name, "version", opened.Version)
	return true
}

// askModern asks the upstream what it is, as a modern client does.
func (f *face) askModern(ctx context.Context, out *exchange.Request) (speaks, refuses bool) {
	ask := legacy.OwnPost(out, outbound.OwnOpening(mcp.MethodDiscover, map[string]any{"_meta": mcp.OwnMeta(modernVersion)}))
	ask.Header.Set(mcp.HeaderVersion, modernVersion)
	ask.Header.Set(mcp.HeaderMethod, mcp.MethodDiscover)
	response, err := f.b.options().Endpoint.Client.Send(ctx, ask, 0)
	if err != nil {
		return false, false
	}
	defer response.Body.Close()
	if outbound.RefusesDiscover(response) {
		return false, true
	}
	if response.Status != wire.StatusOK {
		return false, false
	}
	a, err := outbound.OwnAnswer(response, []byte(outbound.OwnID), func() {})
	return err == nil && a.HasResult, false
}

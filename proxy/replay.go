package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

const (
	// defaultReplayStep bounds a step of a replay where Timeouts.Control is 0.
	defaultReplayStep = 30 * time.Second

	// endTime bounds the end of a session that berth opened and does not need.
	endTime = 2 * time.Second
)

var (
	errVersionDiffers = errors.New("proxy: the upstream negotiates another protocol version")
	errReplayRefused  = errors.New("proxy: the upstream refuses to open the session anew")
)

// replay is a session being opened anew on an upstream, in the name of the caller.
type replay struct {
	x        *request
	upstream *routing.Upstream
	kept     *handshake
	session  string // the upstream's id of it; "": none yet
}

// run opens the session. A failure is a *exchange.SendError if the upstream could
// not be reached; a session that was half made is ended.
func (r *replay) run(ctx context.Context) (err error) {
	if err := r.initialize(ctx); err != nil {
		r.end()
		return err
	}
	for _, body := range r.rest() {
		if _, err := r.post(ctx, body); err != nil {
			r.end()
			return err
		}
	}
	return nil
}

// initialize sends the client's own request, under an id of berth's. The client goes
// on in what it negotiated, so that the answer must be the same version.
func (r *replay) initialize(ctx context.Context) error {
	a, err := r.post(ctx, mcp.WithID(r.kept.Initialize, []byte(outbound.OwnID)))
	switch {
	case err != nil:
		return err
	case r.session == "" || a.Version == "":
		return errReplayRefused
	case a.Version != r.kept.Version:
		return errVersionDiffers
	}
	return nil
}

// rest are the messages that follow initialize. The caller's own
// notifications/initialized goes out as its request.
func (r *replay) rest() (bodies [][]byte) {
	if c := r.x.Single(); c == nil || c.Method != mcp.MethodInitialized {
		bodies = append(bodies, []byte(`{"jsonrpc":"2.0","method":"`+mcp.MethodInitialized+`"}`))
	}
	if r.kept.Level != nil {
		bodies = append(bodies, mcp.WithID(r.kept.Level, []byte(outbound.OwnID)))
	}
	for _, uri := range r.kept.URIs {
		body, _ := json.Marshal(map[string]any{ // strings and maps always marshal
			"jsonrpc": "2.0", "id": json.RawMessage(outbound.OwnID), "method": mcp.MethodSubscribe, "params": map[string]any{"uri": uri},
		})
		bodies = append(bodies, body)
	}
	return bodies
}

// post sends one message and reads the answer, which must be neither an HTTP nor a
// JSON-RPC error. The first answer hands out the session.
func (r *replay) post(ctx context.Context, body []byte) (mcp.Answer, error) {
	wait := cmp.Or(r.x.Endpoint.Timeouts.Control, defaultReplayStep)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	out := r.x.way().Post(r.upstream, body)
	r.inSession(out.Header)
	response, err := r.x.Endpoint.Client.Send(ctx, out, wait)
	if err != nil {
		return mcp.Answer{}, r.failed(err)
	}
	defer response.Body.Close()
	outbound.To(r.x.Endpoint).NoteAnswer(r.upstream, response)
	if r.session == "" && outbound.RefusesEra(mcp.EraLegacy, mcp.MethodInitialize, []byte(outbound.OwnID), response) {
		return mcp.Answer{}, &exchange.SendError{Err: outbound.ErrEra} // another one may open it
	}
	if r.session == "" && response.Status/100 == 2 && !r.x.hasOddSession(response.Header) {
		r.session = response.Header.Get(mcp.HeaderSession)
	}
	a, err := outbound.OwnAnswer(response, r.x.crossedBy(r.upstream))
	if err == nil && (response.Status/100 != 2 || a.IsError) {
		err = fmt.Errorf("%w: HTTP %d, code %d", errReplayRefused, response.Status, a.ErrorCode)
	}
	return a, err
}

// inSession names the session that is being opened, if it has a name already. Before
// it has one no version is agreed on either.
func (r *replay) inSession(h wire.Header) {
	if r.session != "" {
		h.Set(mcp.HeaderSession, r.session)
		return
	}
	h.Del(mcp.HeaderSession)
	h.Del(mcp.HeaderVersion)
}

// failed notes that the upstream gave no answer. Only what was sent first may be
// tried elsewhere.
func (r *replay) failed(err error) error {
	var failed *exchange.SendError
	if errors.As(err, &failed) {
		outbound.To(r.x.Endpoint).NoteFailure(r.upstream, failed)
	}
	if r.session != "" {
		return fmt.Errorf("%w: %v", errReplayRefused, err)
	}
	return err
}

// end ends the session, if there is one, as a courtesy to the upstream.
func (r *replay) end() {
	if r.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.x.HTTP.Context()), endTime)
	defer cancel()
	out := r.x.way().Request(r.upstream, wire.MethodDelete, r.x.way().URL(r.upstream), nil)
	outbound.DropCallsOwn(out.Header)
	out.Header.Del("Content-Type")
	out.Header.Del(mcp.HeaderLastEvent)
	out.Header.Set(mcp.HeaderSession, r.session)
	response, err := r.x.Endpoint.Client.Send(ctx, out, endTime)
	if err != nil {
		r.x.p.log.Debug("a session that is not needed could not be ended", "upstream", r.upstream.Name, "error", err)
		return
	}
	_ = response.Body.Close()
}

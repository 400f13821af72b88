package sessiontasks

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// maxCreators bounds the tasks that are looked at for who made them when a session ends.
const maxCreators = 8

// End ends the session of a DELETE in which calls are held: the session is refused from then on,
// by every berth, and the upstream's DELETE waits for the last of the calls. asks are what its
// upstream asked and nobody answers any more. ended is false for any other DELETE, which goes
// to its upstream, unless err says that nobody knows.
func (s *Sessions) End(ctx context.Context, way outbound.Way, at *routing.Decision) (asks []upgrade.OpenAsk, ended bool, err error) {
	if !s.MayHold(way, at) || !s.mayEnd(ctx, way) {
		return nil, false, nil
	}
	ctx, cancel := way.Recording()
	defer cancel()
	envelope := way.Envelope()
	asks, ended, err = s.held.End(ctx, way.SessionKey(), way.Behind(), &envelope)
	if ended && err != nil {
		s.log.Debug("it is not known what a session that has ended was asked", "pool", way.PoolName(), "error", err)
		err = nil
	}
	return asks, ended, err
}

// mayEnd reports whether the caller may end the session although its upstream does not get
// to judge that: berth knows whose the session is, or the caller may ask for a task whose
// call was made in it.
func (s *Sessions) mayEnd(ctx context.Context, way outbound.Way) bool {
	if way.Principal != "" {
		return true
	}
	ids, err := s.held.InSession(ctx, way.SessionKey())
	if err != nil || len(ids) == 0 {
		return true // held.End finds out
	}
	var tasks []upgrade.Task
	for _, id := range ids[:min(len(ids), maxCreators)] {
		if task, err := s.poller.Record(ctx, id, way.Asker()); err == nil {
			tasks = append(tasks, task)
		}
	}
	return s.callers.Caller(way).MayAskForOne(ctx, tasks)
}

// endTime bounds the answers of RefuseAsks.
const endTime = 2 * time.Second

// RefuseAsks answers in the client's place what u asks it in calls that are held: tools
// that wait for an answer need not wait for their time-outs.
func (s *Sessions) RefuseAsks(way outbound.Way, u *routing.Upstream, asks []upgrade.OpenAsk) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(way.HTTP.Context()), endTime)
	defer cancel()
	for _, ask := range asks {
		out := way.Post(u, mcp.ErrorResponse(ask.ID, fault.SessionEnded.Object()))
		out.Header.Set(mcp.HeaderSession, way.SessionAt(ctx, u))
		response, err := outbound.To(way.Endpoint).Send(ctx, u, out, outbound.Terms{Wait: endTime})
		if err != nil {
			s.log.Debug("an upstream could not be told that nobody answers", "upstream", u.Name, "task", ask.Task, "error", err)
			continue
		}
		taken := response.Status/100 == 2
		_ = response.Body.Close() // the status says it
		if taken {
			s.held.Settle(ctx, ask.Task, ask.ID)
		}
	}
}

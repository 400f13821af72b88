package polls

import (
	"fmt"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
)

// IfError is the answer to c, which is about one task, in the place of an owner that has not
// answered for silentFor (0: since when is not known, so that the age of what was seen
// counts): the task's end if that was seen, or, for a poll within Endpoint.OwnerGrace, the
// task as it was last seen (stale-if-error: RFC 5861, 4). nil: there is none. A task is not told as it
// was seen here before it ended where the store knows its end.
func (s *StaleCache) IfError(c *inbound.Call, silentFor time.Duration) []byte {
	if end := s.End(c); end != nil {
		return end
	}
	one := c.Single()
	if one.Method != mcp.MethodGetTask || !c.MayPoll {
		return nil
	}
	t, told, ok := s.last(c)
	if !ok || t.result() == "" {
		return nil
	}
	if status := EndElsewhere(c.HTTP.Context(), c); status != "" {
		return t.asEnded(one, status)
	}
	if !t.mayBeTold(told, silentFor, c.Endpoint.OwnerGrace) {
		return nil
	}
	message := fmt.Sprintf("The server instance that holds this task does not answer; this is its state of %s.", told.UTC().Format(time.RFC3339))
	return mcp.Response(one.ID, mcp.WithStatusMessage([]byte(t.result()), message))
}

// last returns a copy of the task that c is about, as its caller was told of it last, and when.
func (s *StaleCache) last(c *inbound.Call) (t staleTask, told time.Time, ok bool) {
	task := c.TaskKey()
	key := keyFor(c, &task)
	return s.get(&key)
}

// mayBeTold reports whether the task as it was last seen may stand in for an owner that has been silent for so long.
func (t *staleTask) mayBeTold(told time.Time, silentFor, grace time.Duration) bool {
	return t.result() != "" && silentFor <= grace && (silentFor > 0 || time.Since(told) <= grace)
}

// IfErrorForSome reports whether IfError has an answer to a poll like c with some credentials. It reads all that is kept.
func (s *StaleCache) IfErrorForSome(c *inbound.Call, silentFor time.Duration) bool {
	ended := EndElsewhere(c.HTTP.Context(), c)
	s.mu.Lock()
	defer s.mu.Unlock()
	task, now := c.TaskKey(), time.Now()
	for _, t := range s.tasks.All() {
		switch {
		case !t.isOf(&task) || s.moment(now) >= t.expires:
		case t.ended, ended != "" && t.result() != "" && t.asEnded(c.Single(), ended) != nil,
			ended == "" && t.mayBeTold(s.told(t, now), silentFor, c.Endpoint.OwnerGrace):
			return true
		}
	}
	return false
}

// End is the answer that the task's end, if it was seen, gives to c, which is about one task;
// nil if there is none.
func (s *StaleCache) End(c *inbound.Call) []byte {
	one := c.Single()
	t, _, ok := s.last(c)
	if !ok || !c.MayPoll {
		return nil
	}
	switch {
	case one.Method == mcp.MethodGetTask && t.ended:
		return mcp.Response(one.ID, []byte(t.result()))
	case one.Method == mcp.MethodTaskResult && one.Era == mcp.EraLegacy && t.outcome() != "":
		return mcp.Response(one.ID, []byte(t.outcome()))
	}
	return nil
}

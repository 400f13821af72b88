package task

import (
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp/inquiry"
)

// What follows are the steps by which a task comes to wait for its client, and goes on.

func (t transition) pause() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	t.ask()
	t.RequestState, t.Answered, t.Message = t.op.RequestState, true, t.op.Message
	t.Withheld = time.Time{} // only what the call came to first can take its place
	if len(t.op.Asks) == 0 {
		t.State = Accepted
		return true, nil
	}
	t.State, t.Holder = InputRequired, ""
	return true, nil
}

// ask has the client be asked Asks, and nothing else. What an upstream's task asks still stays under its key, with the answer that it has.
func (t transition) ask() {
	before := t.Asks
	t.retire()
	for _, in := range t.op.Asks {
		at := slices.IndexFunc(before, func(a Ask) bool { return t.Follows != "" && a.Is(in) })
		if at >= 0 {
			stands := before[at]
			if stands.IsReworded(in) {
				stands.Request = in.Value
			}
			t.Asks = append(t.Asks, stands)
			continue
		}
		t.Asks = append(t.Asks, Ask{Key: t.fresh(in.Key), Upstream: in.Key, Request: in.Value})
	}
}

// follow has the rounds that come be about the upstream's task. What was asked before it
// is answered.
func (t transition) follow() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	t.retire()
	t.Upstream, t.Follows, t.RequestState, t.Answered = t.op.Upstream, t.op.Follows, nil, false
	return true, nil
}

// retire puts the asks of the round before away. Their keys stay used.
func (t transition) retire() {
	t.Asked = slices.Clone(t.Asked)
	for _, ask := range t.Asks {
		if !slices.Contains(t.Asked, ask.Key) {
			t.Asked = append(t.Asked, ask.Key)
		}
	}
	t.Asks = nil
}

// fresh returns key, or one made of it that was not shown before: a key stands for one
// request over a task's life (Tasks extension, "Task Update Requests").
func (t transition) fresh(key string) string {
	used := func(key string) bool {
		return slices.Contains(t.Asked, key) || slices.ContainsFunc(t.Asks, func(a Ask) bool { return a.Key == key })
	}
	name := key
	for n := 2; used(name); n++ {
		name = key + "#" + strconv.Itoa(n)
	}
	return name
}

// answer takes what answers an open ask. The rest is ignored, and so is everything in
// another state.
func (t transition) answer() (changed bool) {
	if t.State != InputRequired {
		return false
	}
	t.Asks = slices.Clone(t.Asks)
	for i := range t.Asks {
		ask := &t.Asks[i]
		if given := slices.IndexFunc(t.op.Answers, func(a inquiry.Input) bool { return a.Key == ask.Key && !isAside(a.Value) }); ask.Answer == nil && given >= 0 {
			ask.Answer, changed = t.op.Answers[given].Value, true
		}
	}
	t.goOnIfAnswered()
	return changed
}

// goOnIfAnswered has the next round be due, and be the holder's that takes the step, unless the client is asked something still.
func (t transition) goOnIfAnswered() {
	if len(t.OpenAsks()) > 0 {
		return
	}
	t.await()
	t.Holder = t.op.Holder
}

// moot has the round be due whose answers nobody waits for: the upstream is asked what has become of the call. With Asks the client is
// asked these instead.
func (t transition) moot() (bool, error) {
	switch {
	case t.State.Terminal():
		return false, ErrTerminal
	case t.State != InputRequired || t.Round != t.op.Round:
		return false, ErrStale
	case len(t.op.Asks) > 0:
		t.ask()
		t.Message = t.op.Message
		t.goOnIfAnswered()
		return true, nil
	}
	t.await()
	t.Holder = t.op.Holder
	return true, nil
}

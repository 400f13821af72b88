package tools

import (
	"context"
	"maps"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/mirrored"
	"berth/internal/mcp/offer"
	"berth/internal/mcp/taskwire"
	"berth/proxy/bridge/sessions"
)

const (
	// ListAgain is how long a list of tools is as good as a new one.
	ListAgain = time.Second

	// Ages is how long what tools say of tasks is gone by: a server that hears of no client tells nobody of a change.
	Ages = 5 * time.Minute
)

const (
	// restAfter is how long what is known is gone by after a list that was tried in vain, as of a server that lists slowly, or not to all.
	restAfter = time.Minute
	// bearable is how long a call waits for a list without which it could be made. One that was waited for longer, and in vain, no call needs
	// for a while.
	bearable = 2 * time.Second
)

const (
	maxPages = 50     // of a list of tools that are read
	maxTools = 10_000 // that are known, as far as one list has no more: of tools that are gone nobody tells
)

// Known is what is known of a server's tools. Its methods may be called concurrently.
type Known struct {
	mu sync.Mutex // guards the fields below

	// mirrors are the headers that calls must bear, by the tool's name; nil: nobody has looked since they
	// have changed. The map does not change.
	mirrors map[string][]mirrored.Argument

	learned time.Time // when the server was last asked for them
	last    list      // what it answered then

	changed bool      // the server has said so since
	asked   time.Time // when a list was tried last that nobody needed at once
	silent  time.Time // when one was waited for in vain last, or tried again since; zero: the server answers

	// supports is what tools say of tasks, by the name of all that were listed. The map does not
	// change.
	supports map[string]string
}

// list is what a server has listed to one caller: it may list other tools to each, and say other things of them.
type list struct {
	caller string
	when   time.Time // zero: nothing was
	facts  toolFacts
}

// isFor reports whether the caller would be listed the same now.
func (l *list) isFor(caller string) bool {
	return l.caller == caller && !l.when.IsZero() && time.Since(l.when) < ListAgain
}

// Call is one of a tool, on its way to the server.
type Call struct {
	Tool    string
	Caller  string            // whom tools may be listed to otherwise than to others
	Tasks   bool              // its client knows tasks
	Session *sessions.Session // that it is made in, and the server is asked in
	Out     *exchange.Request // as its client sent it
}

// Support is what a tool says of tasks; "": nothing.
func (k *Known) Support(tool string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.supports[tool]
}

// SupportNow is Support of the call's tool as the server lists it now, unless it was just asked in vain.
func (k *Known) SupportNow(ctx context.Context, call Call) string {
	k.mu.Lock()
	known, seeks := k.supports[call.Tool], k.seeks()
	k.mu.Unlock()
	if !seeks {
		return known
	}
	return k.learn(ctx, call).supports[call.Tool]
}

// seeks reports whether a call may wait for a list: where one was waited for in vain, one call a while finds out for all. The caller holds
// k.mu.
func (k *Known) seeks() bool {
	if time.Since(k.silent) < restAfter {
		return false
	}
	if !k.silent.IsZero() {
		k.silent = time.Now()
	}
	return true
}

// NoteChanged notes that the server has said that its tools have changed.
func (k *Known) NoteChanged() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed, k.asked = true, time.Time{}
}

// Check judges the headers of a tool's call that mirror its arguments, as the schema has them
// that the server lists (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"), and whether a client that knows
// no tasks may call it. What is not listed is not judged. What was listed a while ago, or to another caller, is listed anew before a call is
// refused. It returns what the tool says of tasks as well.
func (k *Known) Check(ctx context.Context, call Call) (support string, refusal *mcp.Error) {
	listed := call.Session.Listed.Load()
	tasks := offer.HasCoreTasks(call.Session.Result)
	k.mu.Lock()
	known := toolFacts{k.mirrors, k.supports}
	_, isListed := k.supports[call.Tool]
	age := time.Since(k.learned)
	isFresh := k.last.isFor(call.Caller)
	if isFresh {
		known = k.last.facts
	}
	unsure := k.mirrors == nil || !isListed && !listed // a server may list for each session what that may use
	isOld := (k.changed && age >= ListAgain || tasks && age >= Ages) && time.Since(k.asked) >= restAfter
	refusal = known.check(call, tasks)
	needs := (unsure || refusal != nil && !isFresh) && k.seeks()
	if isOld {
		k.asked = time.Now()
	}
	k.mu.Unlock()
	switch {
	case needs:
		known = k.learn(ctx, call)
	case isOld:
		ctx, cancel := context.WithTimeout(ctx, bearable)
		defer cancel()
		known = k.learn(ctx, call)
	}
	return known.supports[call.Tool], known.check(call, tasks)
}

// check refuses a call whose headers do not repeat its arguments, or that cannot become the task that its tool, of a server that has
// tasks, has all calls be.
func (t toolFacts) check(call Call, tasks bool) *mcp.Error {
	for _, mirror := range t.mirrors[call.Tool] {
		if refusal := mirror.Check(call.Out.Body, call.Out.Header); refusal != nil {
			return refusal
		}
	}
	if tasks && !call.Tasks && t.supports[call.Tool] == taskwire.Required {
		return mcp.ErrMissingTasks
	}
	return nil
}

// learn reads which arguments of the server's tools headers mirror, and which of them may become
// tasks, and returns what is known of those that its caller is listed. A client's own list brings that up to date.
func (k *Known) learn(ctx context.Context, call Call) toolFacts {
	k.mu.Lock()
	changed := k.changed
	k.changed = false
	k.mu.Unlock()
	began := time.Now()
	own, isWhole := newFacts(), false
	params := map[string]any{}
	for range maxPages {
		result, err := call.Session.Ask(ctx, call.Out, mcp.MethodListTools, params)
		if err != nil { // the next call asks again
			k.mu.Lock()
			defer k.mu.Unlock()
			k.changed = k.changed || changed
			if time.Since(began) >= bearable { // its caller may have left meanwhile
				k.silent = time.Now()
			}
			return k.with(own)
		}
		own.add(result)
		cursor := mcp.CursorIn(result)
		if isWhole = cursor == ""; isWhole {
			break
		}
		params["cursor"] = cursor
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.with(own)
	if !isWhole {
		own = all
	}
	k.mirrors, k.supports, k.learned, k.silent = all.mirrors, all.supports, time.Now(), time.Time{}
	k.last = list{call.Caller, k.learned, own}
	call.Session.Listed.Store(true) // whoever reads that finds the tools
	return own
}

// Note brings what is known of the server's tools up to date: the result of a tools/list of a caller's.
func (k *Known) Note(caller string, result []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mirrors == nil {
		return
	}
	now := newFacts()
	now.add(result)
	if k.last.isFor(caller) {
		k.last.facts = k.last.facts.with(now)
	}
	all := k.with(now)
	k.mirrors, k.supports = all.mirrors, all.supports
}

// with is what is known and what now says, of too much what that says. The caller holds k.mu.
func (k *Known) with(now toolFacts) toolFacts {
	if len(k.supports) > maxTools {
		return now
	}
	return toolFacts{k.mirrors, k.supports}.with(now)
}

// toolFacts are what is known of a server's tools, by their names.
type toolFacts struct {
	mirrors  map[string][]mirrored.Argument
	supports map[string]string
}

func newFacts() toolFacts {
	return toolFacts{map[string][]mirrored.Argument{}, map[string]string{}}
}

// with is a copy that holds what now says as well, of the same tools instead.
func (t toolFacts) with(now toolFacts) toolFacts {
	all := newFacts()
	maps.Copy(all.mirrors, t.mirrors)
	maps.Copy(all.supports, t.supports)
	for tool, says := range now.supports {
		delete(all.mirrors, tool)
		all.supports[tool] = says
	}
	maps.Copy(all.mirrors, now.mirrors)
	return all
}

// add adds what the result of a tools/list says.
func (t toolFacts) add(result []byte) {
	mirrored.Add(t.mirrors, result)
	taskwire.AddSupports(t.supports, result)
}

package tools

import (
	"context"
	"maps"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/mirrored"
	"berth/internal/mcp/taskwire"
	"berth/proxy/bridge/sessions"
)

// ListAgain is how long a list of tools is as good as a new one.
const ListAgain = time.Second

// maxPages bounds the pages of a list of tools that are read.
const maxPages = 50

// Known is what is known of a server's tools. Its methods may be called concurrently.
type Known struct {
	mu sync.Mutex // guards the fields below

	// mirrors are the headers that calls must bear, by the tool's name; nil: nobody has looked since they
	// have changed. The map does not change.
	mirrors map[string][]mirrored.Argument

	learned time.Time // when the server was last asked for them

	// supports is what tools say of tasks, by the name of all that were listed. The map does not
	// change.
	supports map[string]string
}

// Support is what a tool says of tasks; "": nothing.
func (k *Known) Support(tool string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.supports[tool]
}

// Check judges the headers of a tool's call that mirror its arguments, as the schema has them
// that the server lists (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). What
// is not listed is not judged. What was listed a while ago is listed anew before a call is refused: it may have changed. The
// server is asked in the call's session.
func (k *Known) Check(ctx context.Context, l *sessions.Session, call *exchange.Request, tool string) *mcp.Error {
	listed := l.Listed()
	k.mu.Lock()
	mirrors := k.mirrors
	_, isListed := k.supports[tool]
	unsure := mirrors == nil || !isListed && !listed // a server may list for each session what that may use
	isFresh := time.Since(k.learned) < ListAgain
	k.mu.Unlock()
	if refusal := checkMirrors(mirrors[tool], call); !unsure && (refusal == nil || isFresh) {
		return refusal
	}
	return checkMirrors(k.learn(ctx, l, call)[tool], call)
}

// checkMirrors refuses a call whose headers do not repeat its arguments.
func checkMirrors(mirrors []mirrored.Argument, out *exchange.Request) *mcp.Error {
	for _, mirror := range mirrors {
		if refusal := mirror.Check(out.Body, out.Header); refusal != nil {
			return refusal
		}
	}
	return nil
}

// learn reads which arguments of the server's tools headers mirror, and which of them may become
// tasks. A client's own list brings that up to date.
func (k *Known) learn(ctx context.Context, l *sessions.Session, call *exchange.Request) map[string][]mirrored.Argument {
	k.mu.Lock()
	learned := k.facts()
	k.mu.Unlock()
	params := map[string]any{}
	for range maxPages {
		result, err := l.Ask(ctx, call, mcp.MethodListTools, params)
		if err != nil {
			return learned.mirrors // the next call asks again
		}
		learned.add(result)
		cursor := mcp.CursorIn(result)
		if cursor == "" {
			break
		}
		params["cursor"] = cursor
	}
	k.mu.Lock()
	k.mirrors, k.supports, k.learned = learned.mirrors, learned.supports, time.Now()
	k.mu.Unlock()
	l.NoteListed() // whoever reads that finds the tools
	return learned.mirrors
}

// Note brings what is known of the server's tools up to date: the result of a tools/list.
func (k *Known) Note(result []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mirrors == nil {
		return
	}
	now := k.facts()
	now.add(result)
	k.mirrors, k.supports = now.mirrors, now.supports
}

// toolFacts are what is known of a server's tools, by their names.
type toolFacts struct {
	mirrors  map[string][]mirrored.Argument
	supports map[string]string
}

// facts is a copy of what is known. The caller holds k.mu.
func (k *Known) facts() toolFacts {
	t := toolFacts{map[string][]mirrored.Argument{}, map[string]string{}}
	maps.Copy(t.mirrors, k.mirrors)
	maps.Copy(t.supports, k.supports)
	return t
}

// add adds what the result of a tools/list says.
func (t toolFacts) add(result []byte) {
	mirrored.Add(t.mirrors, result)
	taskwire.AddSupports(t.supports, result)
}

package bridge

import (
	"context"
	"maps"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/bridge/sessions"
)

// listAgain is how long a list of tools is as good as a new one.
const listAgain = time.Second

// maxPages bounds the pages of a list of tools that are read.
const maxPages = 50

// checkParams judges the headers of a tool's call that mirror its arguments, as the schema has them
// that the server lists (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). What
// is not listed is not judged. What was listed a while ago is listed anew before a call is refused: it may have changed.
func (c *call) checkParams(ctx context.Context, l *sessions.Session) *mcp.Error {
	if c.Method != mcp.MethodCallTool {
		return nil
	}
	listed := l.Listed()
	c.f.mu.Lock()
	tools := c.f.tools
	_, isListed := c.f.supports[c.Name]
	unsure := tools == nil || !isListed && !listed // a server may list for each session what that may use
	isFresh := time.Since(c.f.learned) < listAgain
	c.f.mu.Unlock()
	if refusal := checkMirrors(tools[c.Name], c.who.Out); !unsure && (refusal == nil || isFresh) {
		return refusal
	}
	return checkMirrors(c.learnTools(ctx, l)[c.Name], c.who.Out)
}

// checkMirrors refuses a call whose headers do not repeat its arguments.
func checkMirrors(mirrors []mcp.Mirror, out *exchange.Request) *mcp.Error {
	for _, mirror := range mirrors {
		if refusal := mirror.Check(out.Body, out.Header); refusal != nil {
			return refusal
		}
	}
	return nil
}

// learnTools reads which arguments of the server's tools headers mirror, and which of them may become
// tasks. A client's own list brings that up to date.
func (c *call) learnTools(ctx context.Context, l *sessions.Session) map[string][]mcp.Mirror {
	c.f.mu.Lock()
	learned := c.f.facts()
	c.f.mu.Unlock()
	params := map[string]any{}
	for range maxPages {
		result, err := l.Ask(ctx, c.who.Out, mcp.MethodListTools, params)
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
	c.f.mu.Lock()
	c.f.tools, c.f.supports, c.f.learned = learned.mirrors, learned.supports, time.Now()
	c.f.mu.Unlock()
	l.NoteListed() // whoever reads that finds the tools
	return learned.mirrors
}

// noteTools brings what is known of the server's tools up to date.
func (f *face) noteTools(result []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tools == nil {
		return
	}
	now := f.facts()
	now.add(result)
	f.tools, f.supports = now.mirrors, now.supports
}

// toolFacts are what is known of a server's tools, by their names.
type toolFacts struct {
	mirrors  map[string][]mcp.Mirror
	supports map[string]string
}

// facts is a copy of what is known. The caller holds f.mu.
func (f *face) facts() toolFacts {
	t := toolFacts{map[string][]mcp.Mirror{}, map[string]string{}}
	maps.Copy(t.mirrors, f.tools)
	maps.Copy(t.supports, f.supports)
	return t
}

// add adds what the result of a tools/list says.
func (t toolFacts) add(result []byte) {
	mcp.AddMirrors(t.mirrors, result)
	mcp.AddTaskSupports(t.supports, result)
}

package bridge

import (
	"context"
	"maps"

	"berth/internal/mcp"
)

// maxPages bounds the pages of a list of tools that are read.
const maxPages = 50

// checkParams judges the headers of a tool's call that mirror its arguments, as the schema has them
// that the server lists (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). What
// is not listed is not judged.
func (c *call) checkParams(ctx context.Context, l *loan) *mcp.Error {
	if c.Method != mcp.MethodCallTool {
		return nil
	}
	c.f.mu.Lock()
	tools := c.f.tools
	c.f.mu.Unlock()
	if tools == nil {
		tools = c.learnTools(ctx, l)
	}
	for _, mirror := range tools[c.Name] {
		if refusal := mirror.Check(c.out.Body, c.out.Header); refusal != nil {
			return refusal
		}
	}
	return nil
}

// learnTools reads which arguments of the server's tools headers mirror. A client's own list
// brings that up to date.
func (c *call) learnTools(ctx context.Context, l *loan) map[string][]mcp.Mirror {
	tools := map[string][]mcp.Mirror{}
	params := map[string]any{}
	for range maxPages {
		result, err := c.f.ask(ctx, c.out, l, mcp.MethodListTools, params)
		if err != nil {
			return tools // the next call asks again
		}
		mcp.AddMirrors(tools, result)
		cursor := mcp.CursorIn(result)
		if cursor == "" {
			break
		}
		params["cursor"] = cursor
	}
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.tools = tools
	return tools
}

// noteTools brings what is known of the server's tools up to date.
func (f *face) noteTools(result []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tools == nil {
		return
	}
	tools := make(map[string][]mcp.Mirror, len(f.tools))
	maps.Copy(tools, f.tools)
	mcp.AddMirrors(tools, result)
	f.tools = tools
}

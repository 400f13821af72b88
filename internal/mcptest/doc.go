// Package mcptest is a small, real MCP server with in-memory tasks, made to be
// run several times side by side: the fleet behind the demonstration, and the
// upstream of other packages' tests. Beside it, a Sleeper is a server that knows
// nothing of tasks, and a StdioServer one of the legacy era that speaks by stdio.
//
// One URL serves both eras of Streamable HTTP. Modern calls (2026-07-28) are
// checked against their routing headers and get tasks of the extension
// io.modelcontextprotocol/tasks, and subscriptions; legacy calls (2025-03-26 …
// 2025-11-25) get sessions, standing streams, batches and core tasks, or tasks of
// the first draft, whose ids they make themselves; sessions keep what their clients
// subscribe to and the log level, and make no use of it. At wish the legacy era has no
// tasks at all, streams that can be resumed, and a tool that asks its client in mid-call.
//
// What it promises: an instance knows its own tasks and sessions and nobody
// else's, so a call that reaches the wrong instance is denied, never answered
// by luck. A task's state is a function of the clock, and what waits does so in the
// goroutine of the request; only calls on streams that outlive their connections have
// goroutines of their own, and Close waits for those.
//
// What it does not: nothing survives the process, callers are not told apart
// beyond their session, and the JSON is not checked for duplicate keys.
package mcptest

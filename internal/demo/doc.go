// Package demo shows what berth is for: it runs a fleet of MCP servers, puts a
// front before it, drives clients of both eras through the front, and counts
// what comes back right and which polls are lost; then the same with a plain
// round robin instead. After that it calls a tool that knows nothing of tasks,
// without a rule that makes tasks of its calls, and with one. And it has a modern client call a
// legacy server, which berth runs and speaks to by stdio.
//
// Everything is real but small: HTTP over loopback, servers of package mcptest
// that know only their own tasks, or none, clients that give a task up at the first
// denial, as the published ones do. No number in the report is estimated.
package demo

// Package upstream is the fleet that the benchmark's proxies stand in front of: instances that speak just enough of MCP
// over HTTP/1.1, from answers that are ready, so that they take as little as possible of the core that they share with
// the load. They count the polls that reach an instance which does not have the task.
//
// Requests are taken as the benchmark's clients and the proxies make them: a body comes with its length.
package upstream

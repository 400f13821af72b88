// Package contender starts the proxies that the benchmark compares, each pinned to one core, in front of the same
// instances. Every one is set up as its operator would for MCP: connections to the upstreams are kept, and answers are
// not buffered. Whatever a proxy writes lies below the benchmark's own directory; each is killed by its process id,
// and dies with the benchmark.
package contender

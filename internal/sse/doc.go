// Package sse reads and changes streams of events (WHATWG HTML, "Server-sent events"), byte for byte.
//
//   - event.go: what an event says
//   - reader.go: a stream in events; plain.go those that are written as most are; rest.go gives the memory of a
//     stream that says nothing back
//   - rewrite.go: an event with another piece of data, or another id
//   - line.go: lines, and the fields in them
package sse

// Package audit is what is reported of requests: one line in the access log, metrics, and a
// span each. A Record is told: whoever serves the request fills its fields as it goes, and
// Close writes down what they say. It asks nobody anything, changes no answer and fails no
// request.
//
// It promises that what clients invent neither labels a metric (methods that berth does not
// know are "other", and names of tools, ids and principals do not appear) nor stands in a line
// at any length, and that session ids, credentials, arguments, resources' URIs and results are in
// no line at all. Names and attributes are those of the OpenTelemetry semantic conventions for
// MCP where they have one.
//
// The last requests are remembered besides (Decisions), with what an access record tells of where each went.
//
// A Record is a value inside whatever serves the request. Without traces, a request whose
// labels were seen before costs two allocations at most, and those for trace and session alone.
package audit

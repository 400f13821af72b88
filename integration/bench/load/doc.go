// Package load is the client's side of the benchmark: connections that carry one request after another, and two
// ways to keep them busy. Saturate is a closed loop: each connection sends as soon as it has its answer, and shows
// what the server can do. Pace is an open loop: requests are due by the clock whether the server keeps up or not, and
// latency counts from when a request was due, so that a stall shows in every request that it delayed.
//
// What is sent was rendered before, and answers are read without a library, because the load shares its core with the
// upstreams.
package load

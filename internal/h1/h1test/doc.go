// Package h1test carries HTTP/1.1 in tests as berth does: by package h1, or by net/http if the environment variable
// BERTH_TEST_HTTP1 is "net/http". So what is tested on one is tested on the other.
package h1test

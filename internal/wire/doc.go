// Package wire is what HTTP is to berth: the requests it is asked, the answers it gives,
// and what it exchanges with upstreams. Nothing here sends or listens, and nothing depends
// on net/http: that stands behind it, as one way to carry requests and answers.
package wire

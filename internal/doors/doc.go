// Package doors lets clients in: what their connections go through, and the servers of HTTP/1.1 and HTTP/2 behind that.
//
// It promises that what reaches the handler is framed without doubt and can be said in HTTP/1.1, whichever version
// and carrier it came by; that headers, idle connections and streams are bounded as [Options] say; and that a request which HTTP
// itself refuses is counted and told ([BadHeads]).
//
//	doors.go       the servers
//	entrances.go   connections: whose they are, TLS, which version they speak
//	ambiguity.go   what HTTP/2 can say and HTTP/1.1 cannot
//	badheads.go    requests that HTTP refuses
package doors

package admin

import (
	"net"
	"net/http"
	"slices"
	"time"
)

// Order is what somebody asked this listener to change, and how it was answered.
type Order struct {
	At     time.Time
	By     string // what let it in: "token", "loopback" or "socket"
	Client string // address; "" on a socket
	Method string // of HTTP
	Path   string
	Status int // of the answer; 401 and 403: it was turned away
}

// By is how orders are let in.
const (
	byToken    = "token"
	byLoopback = "loopback"
	bySocket   = "socket"
)

// ordered tells tell of each order that next was given. Questions, as these routes ask some, change nothing, and are not told of.
func ordered(next http.Handler, routes []Route, by string, tell func(Order)) http.Handler {
	if tell == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isQuestion(r, routes) {
			next.ServeHTTP(w, r)
			return
		}
		answer := &answered{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			tell(Order{At: time.Now(), By: by, Client: clientOf(r, by), Method: r.Method, Path: r.URL.Path, Status: answer.status})
		}()
		next.ServeHTTP(answer, r)
	})
}

func isQuestion(r *http.Request, routes []Route) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return slices.ContainsFunc(routes, func(route Route) bool { return route.Asks && route.Pattern == r.Method+" "+r.URL.Path })
}

// by says what lets orders in.
func (o Options) by(listener net.Listener) string {
	switch {
	case o.Token != "":
		return byToken
	case listener.Addr().Network() == "unix":
		return bySocket
	}
	return byLoopback
}

func clientOf(r *http.Request, by string) string {
	if by == bySocket {
		return ""
	}
	return r.RemoteAddr
}

// answered remembers how a request was answered.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

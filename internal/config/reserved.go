package config

import (
	"slices"
	"strings"
)

// reservedHeaders have a meaning to HTTP, to MCP or to berth, so that no trusted
// proxy can mean a principal by them. A name that ends in a dash stands for all
// that begin with it.
var reservedHeaders = []string{
	"accept", "accept-", "authorization", "baggage", "cache-control", "connection", "content-", "cookie", "date",
	"expect", "forwarded", "host", "idempotency-key", "keep-alive", "last-event-id", "mcp-", "origin", "proxy-",
	"range", "referer", "sec-", "set-cookie", "te", "traceparent", "tracestate", "trailer", "transfer-encoding",
	"upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto",
}

func isReserved(header string) bool {
	name := strings.ToLower(header)
	return slices.ContainsFunc(reservedHeaders, func(r string) bool {
		return name == r || strings.HasSuffix(r, "-") && strings.HasPrefix(name, r)
	})
}

package httpsse

import (
	"net/url"
	"strings"
)

// resolve returns the endpoint that a stream at that URL announces, which was asked for under the name host; ok is false for one of
// another origin: the client's credentials are not for that. A server that goes by the Host it was sent names that as its own.
func resolve(at *url.URL, host, announced string) (endpoint *url.URL, ok bool) {
	named, err := url.Parse(strings.TrimSpace(announced))
	if err != nil || announced == "" {
		return nil, false
	}
	endpoint = at.ResolveReference(named)
	isAsCalled := host != "" && strings.EqualFold(named.Host, host) && (named.Scheme == "http" || named.Scheme == "https")
	if !isAsCalled && (endpoint.Scheme != at.Scheme || origin(endpoint) != origin(at)) || named.User != nil {
		return nil, false
	}
	endpoint.Scheme, endpoint.Host, endpoint.User, endpoint.Fragment, endpoint.RawFragment = at.Scheme, at.Host, at.User, "", ""
	return endpoint, true
}

// origin is the authority of a URL, without what goes without saying.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

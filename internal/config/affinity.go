package config

import (
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxAffinity bounds the headers that keep calls together: each costs each call a look-up.
const maxAffinity = 8

// paramPrefix begins the headers that mirror a tool's parameters (2026-07-28, "Custom
// Headers from Tool Parameters"): the only ones of MCP that a server gives meaning to.
const paramPrefix = "Mcp-Param-"

// AffinityHeaders returns the headers of Affinity in canonical form.
func (p *Pool) AffinityHeaders() []string {
	headers := make([]string, len(p.Affinity))
	for i, rule := range p.Affinity {
		headers[i] = affinityHeader(rule)
	}
	return headers
}

// affinityHeader is the header that a rule names, "" if it names none.
func affinityHeader(rule string) string {
	name, ok := strings.CutPrefix(rule, "header:")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return ""
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

func (v *validator) affinity(key string, rules []string) {
	if len(rules) > maxAffinity {
		v.fault(key, "must name at most %d headers", maxAffinity)
	}
	var headers []string
	for i, rule := range rules {
		header := affinityHeader(rule)
		parameter, mirrors := strings.CutPrefix(header, paramPrefix)
		switch {
		case header == "":
			v.fault(elementKey(key, i), `must be "header:NAME", got %s`, quote(rule))
		case mirrors && parameter == "", !mirrors && isReserved(header):
			v.fault(elementKey(key, i), "must not be %s, which has a meaning of its own", quote(header))
		case slices.Contains(headers, header):
			v.fault(elementKey(key, i), "names %s a second time", quote(header))
		}
		headers = append(headers, header)
	}
}

package inbound

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/mcp/mirrored"
)

// AffinityID names a value of a header.
func AffinityID(header, value string) string { return strings.ToLower(header) + "\x00" + value }

// findAffinity reads the values that keep calls together, by the map or by the picker.
func (x Arrival) findAffinity() error {
	for _, header := range x.Endpoint.Affinity {
		value, err := x.affinityValue(header)
		if err != nil {
			return err
		}
		if value != "" {
			x.Affinity = append(x.Affinity, AffinityID(header, value))
		}
	}
	return x.findKey()
}

// findKey reads what the picker goes by.
func (x Arrival) findKey() (err error) {
	switch by := x.Endpoint.Rendezvous; by {
	case "":
	case ByPrincipal:
		x.Key = x.Caller
	default:
		x.Key, err = x.affinityValue(by)
	}
	return err
}

// affinityValue is the value of a header that the request is routed by, "" if there is
// none. One that mirrors a parameter does so in a modern tools/call and means nothing
// elsewhere; there it is held against the body (2026-07-28, "Server Validation").
func (x Arrival) affinityValue(header string) (string, error) {
	parameter, mirrors := strings.CutPrefix(header, mcp.HeaderParamPrefix)
	if c := x.Single(); mirrors && (c == nil || c.Era != mcp.EraModern || c.Method != mcp.MethodCallTool) {
		return "", nil
	}
	value, present, refusal := mcp.HeaderValue(x.HTTP.Header, header)
	if refusal == nil && present && mirrors {
		value, refusal = mirrored.CheckParam(x.Body, parameter, value)
	}
	if refusal != nil {
		return "", refusal
	}
	return value, nil
}

package offer

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
)

// Offer is what a server says of itself in the result of initialize or server/discover.
type Offer struct {
	Versions []string // that it names
	Server   string   // its name and version, as a terminal may show them; "": it gives none
}

// In reads result.
func In(result []byte) Offer {
	var named struct {
		Negotiated string   `json:"protocolVersion"`
		Supported  []string `json:"supportedVersions"`
	}
	if json.Unmarshal(result, &named) != nil {
		return Offer{}
	}
	if named.Negotiated != "" && named.Supported == nil {
		named.Supported = []string{named.Negotiated}
	}
	return Offer{Versions: named.Supported, Server: serverIn(result)}
}

// IsLegacyAlone reports whether versions are named, and each is one of the legacy era: the result of a server/discover says so
// whose server does not serve the modern one.
func (o Offer) IsLegacyAlone() bool {
	return len(o.Versions) > 0 && !slices.ContainsFunc(o.Versions, func(version string) bool { return !mcp.IsLegacy(version) })
}

// serverIn is whom a result names as its server: in initialize's own member, or by the modern era among the
// protocol's fields (2026-07-28, basic, "Per-response protocol fields").
func serverIn(result []byte) string {
	info := jsonobject.At(result, "serverInfo")
	if info == nil {
		info = jsonobject.At(result, "_meta", "io.modelcontextprotocol/serverInfo")
	}
	var server struct{ Name, Version string }
	if json.Unmarshal(info, &server) != nil {
		return ""
	}
	return strings.Join(strings.FieldsFunc(server.Name+" "+server.Version, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }), " ")
}

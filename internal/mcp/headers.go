package mcp

import (
	"encoding/base64"
	"slices"
	"strings"

	"berth/internal/wire"
)

// Names of MCP's HTTP headers, in canonical form.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	HeaderMethod      = "Mcp-Method"
	HeaderName        = "Mcp-Name"
	HeaderSession     = "Mcp-Session-Id"
	HeaderParamPrefix = "Mcp-Param-" // begins the headers that mirror a tool's parameters
	HeaderLastEvent   = "Last-Event-Id"
)

const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// DecodeName returns what an Mcp-Name or Mcp-Param-* header stands for; ok is false if its sentinel
// holds no valid base64. What does not match the sentinel is meant literally (2026-07-28, "Value
// Encoding").
func DecodeName(value string) (name string, ok bool) {
	value = wire.Trim(value)
	inner, found := strings.CutPrefix(value, sentinelPrefix)
	if !found {
		return value, true
	}
	inner, found = strings.CutSuffix(inner, sentinelSuffix)
	if !found {
		return value, true
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || strings.ContainsAny(inner, "\r\n") {
		return "", false
	}
	return string(decoded), true
}

// HeaderValue returns the value of a header that stands for something in the body, decoded if it
// mirrors a parameter. What is ambiguous is refused as Classify refuses it.
func HeaderValue(h *wire.Header, name string) (value string, present bool, refusal *Error) {
	value, present, ok := SingleHeader(h, name)
	if !ok {
		return "", false, ErrMismatch("several values of a header that routes")
	}
	if !strings.HasPrefix(name, HeaderParamPrefix) {
		return value, present, nil
	}
	if hasForeignBytes(value) {
		return "", false, ErrMismatch("an Mcp-Param header holds invalid characters")
	}
	if value, ok = DecodeName(value); !ok {
		return "", false, ErrMismatch("an Mcp-Param header holds no valid base64")
	}
	return value, present, nil
}

// hasForeignBytes reports whether a header's value holds more than visible ASCII, space and tab
// (2026-07-28, "Value Encoding").
func hasForeignBytes(value string) bool {
	if isPrintable(value) {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < 0x20 || c > 0x7e) {
			return true
		}
	}
	return false
}

// EncodeName returns value as an Mcp-Name header may carry it.
func EncodeName(value string) string {
	if isPlainHeader(value) {
		return value
	}
	return sentinelPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelSuffix
}

func isPlainHeader(value string) bool {
	sentinel := strings.HasPrefix(value, sentinelPrefix) && strings.HasSuffix(value, sentinelSuffix)
	return wire.Trim(value) == value && !sentinel &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < 0x20 || c > 0x7e })
}

// SingleHeader returns the one value of a header; ok is false if several differ.
func SingleHeader(h *wire.Header, name string) (value string, present, ok bool) {
	value, n := h.First(name)
	value = wire.Trim(value)
	if n > 1 {
		for other := range h.Values(name) {
			if wire.Trim(other) != value {
				return "", true, false
			}
		}
	}
	return value, n > 0, true
}

// CheckServed refuses a modern request, which must have passed Classify, for what a server must
// demand beyond that (2026-07-28, Streamable HTTP, "Server Validation"; versioning; basic,
// "_meta"), if berth itself is to answer it. With lenient the body stands in for the headers
// missing.
func (c *Call) CheckServed(h *wire.Header, lenient bool) (missing []string, refusal *Error) {
	for _, name := range []string{HeaderVersion, HeaderMethod, HeaderName} {
		if !h.Has(name) && (name != HeaderName || nameField(c.Method) != "") {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0 && !lenient:
		return missing, ErrMismatch(missing[0] + " is missing")
	case c.Version != versionModern:
		return missing, errUnsupported(c.Version)
	case !c.hasMetaVersion:
		return missing, errMalformed("_meta lacks " + MetaVersion)
	case !c.hasCapabilities:
		return missing, errMalformed("_meta lacks " + MetaCapabilities)
	}
	return missing, nil
}

// legacyVersions are the published legacy revisions.
var legacyVersions = []string{VersionCoreTasks, "2025-06-18", versionBatches, "2024-11-05"}

// IsLegacyVersion reports whether version is one of the published legacy revisions.
func IsLegacyVersion(version string) bool { return slices.Contains(legacyVersions, version) }

// LegacyVersions names them, as the SDKs do in a refusal.
func LegacyVersions() string { return strings.Join(legacyVersions, ", ") }

package mcp

import (
	"slices"
	"strings"
)

// CheckServed refuses a modern request, which must have passed Classify, for what a server
// must demand beyond that (2026-07-28, Streamable HTTP, "Server Validation"; versioning;
// basic, "_meta"): headers that mirror the body, a version that it speaks, metadata. It is
// for a request that berth itself is to answer. With lenient what headers lack is taken
// from the body; missing names those that lack.
func (c *Call) CheckServed(h Headers, lenient bool) (missing []string, refusal *Error) {
	for _, name := range []string{HeaderVersion, HeaderMethod, HeaderName} {
		if len(h.Values(name)) == 0 && (name != HeaderName || nameField(c.Method) != "") {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0 && !lenient:
		return missing, errMismatch(missing[0] + " is missing")
	case c.Version != versionModern:
		return missing, errUnsupported(c.Version)
	case !c.hasMetaVersion:
		return missing, errMalformed("_meta lacks " + metaVersion)
	case !c.hasCapabilities:
		return missing, errMalformed("_meta lacks " + metaCapabilities)
	}
	return missing, nil
}

// IsLegacyVersion reports whether version is one of the published legacy revisions.
func IsLegacyVersion(version string) bool {
	return slices.Contains([]string{VersionCoreTasks, "2025-06-18", versionBatches, "2024-11-05"}, version)
}

// CheckHeaderBytes refuses header values that mirror the body and hold bytes which they
// must not (2026-07-28, Streamable HTTP, "Value Encoding"): readers differ in what they
// take them for. h has canonical names.
func CheckHeaderBytes(h map[string][]string) *Error {
	for name, values := range h {
		switch {
		case name == HeaderMethod, name == HeaderName, name == HeaderVersion, strings.HasPrefix(name, HeaderParamPrefix):
			if slices.ContainsFunc(values, hasForeignBytes) {
				return errMismatch("a header that mirrors the body holds invalid characters")
			}
		}
	}
	return nil
}

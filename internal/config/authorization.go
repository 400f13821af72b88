package config

import "strings"

// The values of [Pool.Authorization].
const (
	// AuthorizationForward sends the caller's Authorization header upstream.
	AuthorizationForward = "forward"
	// AuthorizationStrip sends none.
	AuthorizationStrip = "strip"
	// AuthorizationReplace sends one of berth's own.
	AuthorizationReplace = "replace"
)

// maxAuthorization bounds the value of an Authorization header, in bytes.
const maxAuthorization = 8 << 10

func (v *validator) authorization(key string, p Pool) {
	v.oneOf(key+".authorization", p.Authorization, AuthorizationForward, AuthorizationStrip, AuthorizationReplace)
	inline, file := p.AuthorizationValue != "", p.AuthorizationValueFile != ""
	switch {
	case p.Authorization != AuthorizationReplace && (inline || file):
		v.fault(key+".authorization", `must be "replace" for authorization_value to count`)
	case p.Authorization != AuthorizationReplace:
	case inline == file:
		v.fault(key+".authorization_value", "or authorization_value_file must be set, and not both")
	case inline && !ValidAuthorization(string(p.AuthorizationValue)):
		v.fault(key+".authorization_value", `must be what stands in the header, such as "Bearer …": at most %d bytes of visible ASCII`, maxAuthorization)
	}
}

// ValidAuthorization judges the value of an Authorization header: a scheme, and what
// it wants, in visible ASCII.
func ValidAuthorization(s string) bool {
	scheme, rest, ok := strings.Cut(s, " ")
	return ok && scheme != "" && strings.TrimSpace(rest) != "" && s == strings.TrimSpace(s) && len(s) <= maxAuthorization &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

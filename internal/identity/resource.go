package identity

import (
	"encoding/json"
	"net/url"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// metadataPath is where the document about a resource lies (RFC 9728, 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// Resource is an MCP endpoint as OAuth knows it (RFC 9728; 2026-07-28, authorization).
type Resource struct {
	URL                  *url.URL // the endpoint as clients know it
	AuthorizationServers []string // the issuer URLs where tokens are to be had
	Scopes               []string // those that a client should ask for. None: it asks for what it likes.
}

// MetadataPath is the well-known path, with the resource's own behind it.
func (r Resource) MetadataPath() string { return metadataPath + strings.TrimSuffix(r.URL.Path, "/") }

// Metadata is that document (RFC 9728, 2).
func (r Resource) Metadata() []byte {
	// Marshal cannot fail on strings.
	document, _ := json.Marshal(struct {
		Resource             string   `json:"resource"`
		AuthorizationServers []string `json:"authorization_servers"`
		BearerMethods        []string `json:"bearer_methods_supported"`
		Scopes               []string `json:"scopes_supported,omitempty"`
	}{r.URL.String(), r.AuthorizationServers, []string{"header"}, r.Scopes})
	return document
}

// challenge is the value of WWW-Authenticate (RFC 6750, 3; RFC 9728, 5.1); a request without a
// token is told no problem.
func (r Resource) challenge(problem, description string) string {
	metadata := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.MetadataPath()}
	var parameters []string
	add := func(name, value string) { parameters = append(parameters, name+`="`+value+`"`) }
	if problem != "" {
		add("error", problem)
		add("error_description", description)
	}
	if len(r.Scopes) > 0 {
		add("scope", strings.Join(r.Scopes, " "))
	}
	add("resource_metadata", metadata.String())
	return "Bearer " + strings.Join(parameters, ", ")
}

func (r Resource) refuse(status int, problem, description string) *mcp.Error {
	return &mcp.Error{
		Status: status, Code: mcp.CodeInvalidRequest, Message: description,
		Challenge: r.challenge(problem, description),
	}
}

func (r Resource) invalid(description string) *mcp.Error {
	return r.refuse(wire.StatusUnauthorized, "invalid_token", description)
}

package api

import _ "embed"

// OpenAPI describes /v1 for others: OpenAPI 3.1. It is testdata/paths.yaml with the schemas of this package's
// types, as go test ./internal/api -run OpenAPI -update writes it.
//
//go:embed openapi.yaml
var OpenAPI []byte

package mcptest

import (
	"encoding/json"
	"net/http"
)

// JSON-RPC error codes, JSON-RPC 2.0 and 2026-07-28 basic, "Error Codes".
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeBadRequest         = -32000 // what legacy servers say with a bare 400
	codeUnknownSession     = -32001 // what the TypeScript SDK says with its 404
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// A message is one JSON-RPC message of the server.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

// A failure is a JSON-RPC error object.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// A refusal is a failure that also has an HTTP status.
type refusal struct {
	status  int
	failure failure
}

// answer makes the response to the request with that id: the failure if there
// is one, else the result.
func answer(id json.RawMessage, result any, fail *failure) message {
	if fail != nil {
		result = nil
	}
	return message{JSONRPC: "2.0", ID: id, Result: result, Error: fail}
}

func notification(method string, params any) message {
	return message{JSONRPC: "2.0", Method: method, Params: params}
}

// refuse answers outside of any stream. A nil id is left out, as it is where
// the message could not be read (2025-11-25 transports, "Sending Messages").
func refuse(w http.ResponseWriter, id json.RawMessage, no refusal) {
	writeJSON(w, no.status, answer(id, nil, &no.failure))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// What fails here is the connection: nobody is left to be told.
	_ = json.NewEncoder(w).Encode(v)
}

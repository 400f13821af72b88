package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

const (
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"

	headerSession = "Mcp-Session-Id"
)

// A conversation is the calls that belong to one tool call: a session, if
// there is one, and ids that count up.
type conversation struct {
	client  *Client
	session string
	lastID  int
}

// A denial is an answer that is not a result: an HTTP status, or a JSON-RPC
// error.
type denial struct {
	status int
	code   int // 0 where the body is no JSON-RPC error
	text   string
}

func (d *denial) Error() string {
	return fmt.Sprintf("HTTP %d, JSON-RPC %d: %s", d.status, d.code, d.text)
}

// call sends a request and returns its result. Name is what Mcp-Name repeats.
func (v *conversation) call(ctx context.Context, method, name string, params map[string]any) (json.RawMessage, error) {
	v.lastID++
	if v.client.Kind == Modern {
		params["_meta"] = modernMeta(params["_meta"])
	}
	resp, err := v.post(ctx, method, name, map[string]any{
		"jsonrpc": "2.0", "id": v.lastID, "method": method, "params": params,
	})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if method == "initialize" {
		v.session = resp.Header.Get(headerSession)
	}
	return readResult(resp, v.lastID)
}

// notify sends a notification, which a server only accepts or not.
func (v *conversation) notify(ctx context.Context, method string) error {
	resp, err := v.post(ctx, method, "", map[string]any{"jsonrpc": "2.0", "method": method})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return &denial{status: resp.StatusCode, text: resp.Status}
	}
	return nil
}

func (v *conversation) post(ctx context.Context, method, name string, msg map[string]any) (*http.Response, error) {
	body, err := json.Marshal(msg)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.client.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", method, err)
	}
	v.setHeaders(req.Header, method, name)
	return cmp.Or(v.client.HTTP, http.DefaultClient).Do(req)
}

func (v *conversation) setHeaders(h http.Header, method, name string) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if v.client.Kind == Modern {
		h.Set("Mcp-Protocol-Version", modernVersion)
		h.Set("Mcp-Method", method)
		h.Set("Mcp-Name", name)
		return
	}
	if method != "initialize" {
		h.Set("Mcp-Protocol-Version", legacyVersion)
	}
	if v.session != "" {
		h.Set(headerSession, v.session)
	}
}

// modernMeta adds what every modern request must say of itself.
func modernMeta(more any) map[string]any {
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion": modernVersion,
		"io.modelcontextprotocol/clientInfo":      clientInfo(),
		"io.modelcontextprotocol/clientCapabilities": map[string]any{
			"extensions": map[string]any{"io.modelcontextprotocol/tasks": struct{}{}},
		},
	}
	if m, ok := more.(map[string]any); ok {
		maps.Copy(meta, m)
	}
	return meta
}

func clientInfo() any { return map[string]any{"name": "berth demo", "version": "1.0.0"} }

// A response is a JSON-RPC message that may answer a request.
type response struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func readResult(resp *http.Response, id int) (json.RawMessage, error) {
	var msg response
	var err error
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		msg, err = readStream(resp.Body, id)
	} else {
		err = json.NewDecoder(resp.Body).Decode(&msg)
	}
	switch {
	case resp.StatusCode == http.StatusOK && err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case msg.Error != nil:
		return nil, &denial{resp.StatusCode, msg.Error.Code, msg.Error.Message}
	case resp.StatusCode != http.StatusOK:
		return nil, &denial{status: resp.StatusCode, text: resp.Status}
	case msg.Result == nil || !msg.answers(id):
		return nil, errors.New("the answer belongs to no request")
	}
	return msg.Result, nil
}

func (m response) answers(id int) bool {
	return m.Method == "" && string(m.ID) == fmt.Sprint(id)
}

// readStream reads events up to the answer with that id.
func readStream(r io.Reader, id int) (response, error) {
	for data, err := range events(r) {
		if err != nil {
			return response{}, err
		}
		var msg response
		if err := json.Unmarshal(data, &msg); err != nil {
			return response{}, fmt.Errorf("event: %w", err)
		}
		if msg.answers(id) {
			return msg, nil
		}
	}
	return response{}, io.ErrUnexpectedEOF
}

package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"berth/internal/client"
	"berth/internal/mcp"
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

// call sends a request and returns its result.
func (v *conversation) call(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	v.lastID++
	answer, err := v.send(ctx, method, v.lastID, params)
	if err != nil {
		return nil, err
	}
	if method == mcp.MethodInitialize {
		v.session = answer.Header.Get(mcp.HeaderSession)
	}
	return answer.Result, nil
}

// notify sends a notification, which a server only accepts or not.
func (v *conversation) notify(ctx context.Context, method string) error {
	_, err := v.send(ctx, method, 0, nil)
	return err
}

// send sends one message; what the server says against it is a denial.
func (v *conversation) send(ctx context.Context, method string, id int, params map[string]any) (*client.Answer, error) {
	endpoint := client.Endpoint{
		URL: v.client.URL, Name: clientName, Send: cmp.Or(v.client.HTTP, http.DefaultClient).Do,
	}
	answer, err := endpoint.Call(ctx, client.Message{
		Version: v.version(method), Session: v.session, ID: id, Method: method, Params: params,
	})
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, &denial{answer.Status, answer.Error.Code, answer.Error.Message}
	case !answer.Accepted():
		return nil, &denial{status: answer.Status, text: http.StatusText(answer.Status)}
	}
	return answer, nil
}

func (v *conversation) version(method string) string {
	switch {
	case v.client.Kind == Modern:
		return client.Modern
	case method == mcp.MethodInitialize:
		return ""
	}
	return client.Legacy
}

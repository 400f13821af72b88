package client

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
)

// Endpoint is one MCP endpoint as a client sees it. It may be used concurrently, as
// far as Send may.
type Endpoint struct {
	// URL is the endpoint's address. Required.
	URL string

	// Name is what the client calls itself.
	Name string

	// Header is added to every request; nil: nothing.
	Header http.Header

	// Send carries a request to the server and returns its answer's head. Required. It
	// decides about connections, redirects, time-outs and repetitions.
	Send func(*http.Request) (*http.Response, error)
}

// Post returns the HTTP request that bears m.
func (e *Endpoint) Post(ctx context.Context, m Message) (*http.Request, error) {
	body, err := m.encode(e.Name)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	maps.Copy(request.Header, e.Header.Clone())
	m.setHeaders(request.Header)
	return request, nil
}

// Call sends m and reads the answer. An error means that there is none, or none that
// can be read: ErrUnreadable. What a server says against a request is an Answer.
func (e *Endpoint) Call(ctx context.Context, m Message) (*Answer, error) {
	request, err := e.Post(ctx, m)
	if err != nil {
		return nil, err
	}
	response, err := e.Send(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return Read(response, m.ID)
}

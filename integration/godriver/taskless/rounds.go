package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func confirmDelete(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct{ Filename string }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, invalid(err)
	}
	given, err := answers(req, "confirm")
	if err != nil {
		return nil, err
	}
	answer, answered := given["confirm"]
	switch {
	case !answered:
		return ask(given, map[string]mcp.InputRequest{"confirm": confirmation("Delete " + args.Filename + "?")})
	case answer.Action != "accept":
		return text("%s kept", args.Filename), nil
	default:
		return text("%s deleted", args.Filename), nil
	}
}

func multiInput(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given, err := answers(req, "first", "second")
	if err != nil {
		return nil, err
	}
	missing := make(map[string]mcp.InputRequest)
	for _, key := range []string{"first", "second"} {
		if _, answered := given[key]; !answered {
			missing[key] = question("Your " + key + " name?")
		}
	}
	if len(missing) > 0 {
		return ask(given, missing)
	}
	return text("%v and %v", given["first"].Content["name"], given["second"].Content["name"]), nil
}

func greetSlowly(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given, err := answers(req, "user_name")
	if err != nil {
		return nil, err
	}
	answer, answered := given["user_name"]
	if !answered {
		return ask(given, map[string]mcp.InputRequest{"user_name": question("Your name?")})
	}
	if err := pause(ctx, secondRoundTakes); err != nil {
		return nil, err
	}
	return text("Hello, %v!", answer.Content["name"]), nil
}

// answers are those of this round and, from the state that the client gave back, those
// of the rounds before. An answer that was not asked for, or comes without the state of
// its question, is refused: who repeats a call has to do it right.
func answers(req *mcp.CallToolRequest, asked ...string) (map[string]*mcp.ElicitResult, error) {
	given := make(map[string]*mcp.ElicitResult)
	if state := req.Params.RequestState; state != "" {
		if err := json.Unmarshal([]byte(state), &given); err != nil {
			return nil, invalid(fmt.Errorf("requestState: %w", err))
		}
	} else if len(req.Params.InputResponses) > 0 {
		return nil, invalid(fmt.Errorf("answers without requestState"))
	}
	for key, response := range req.Params.InputResponses {
		answer, ok := response.(*mcp.ElicitResult)
		if !ok || !slices.Contains(asked, key) {
			return nil, invalid(fmt.Errorf("%q: not an answer that was asked for", key))
		}
		given[key] = answer
	}
	return given, nil
}

// ask ends a round with questions, and gives the client what it answered so far to
// carry.
func ask(given map[string]*mcp.ElicitResult, questions map[string]mcp.InputRequest) (*mcp.CallToolResult, error) {
	state, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("keeping the answers: %w", err)
	}
	return &mcp.CallToolResult{InputRequests: questions, RequestState: string(state)}, nil
}

func confirmation(message string) *mcp.ElicitParams { return elicit(message, "confirm", "boolean") }

func question(message string) *mcp.ElicitParams { return elicit(message, "name", "string") }

func elicit(message, property, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: message,
		RequestedSchema: &jsonschema.Schema{
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{property: {Type: kind}},
			Required:   []string{property},
		},
	}
}

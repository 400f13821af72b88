package verbs

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"berth/internal/api"
)

// maxQuestion bounds what is read of a request, in bytes.
const maxQuestion = 8 << 20

var errNoRequest = errors.New("standard input holds neither a JSON-RPC message nor an HTTP request (start line, headers, an empty line, body)")

// parseQuestion reads a JSON-RPC message, or an HTTP request as it stands on the wire or as curl -v shows it: with
// "> " before each line of its head, and what curl itself says between.
func parseQuestion(text string) (*api.Question, error) {
	text = strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return &api.Question{Body: text}, nil
	}
	head, body := split(text)
	if len(head) == 0 {
		return nil, errNoRequest
	}
	parts := strings.Fields(head[0])
	if len(parts) != 3 || !strings.HasPrefix(parts[2], "HTTP/") {
		return nil, errNoRequest
	}
	target, err := url.Parse(parts[1])
	if err != nil {
		return nil, fmt.Errorf("the start line names no path: %w", err)
	}
	q := &api.Question{Method: parts[0], Path: target.RequestURI(), Body: body, Headers: map[string]string{}}
	for _, line := range head[1:] {
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, fmt.Errorf("%q is no header", line)
		}
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if before, twice := q.Headers[name]; twice {
			value = before + ", " + value
		}
		q.Headers[name] = value
	}
	return q, nil
}

// split parts a request's head, line by line, from its body.
func split(text string) (head []string, body string) {
	if !strings.HasPrefix(text, "*") && !strings.HasPrefix(text, "> ") && !strings.HasPrefix(text, "{ [") {
		before, after, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
		return strings.Split(strings.TrimRight(before, "\n"), "\n"), strings.TrimRight(after, "\n")
	}
	over := false
	var rest []string
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxQuestion)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		sent, isSent := strings.CutPrefix(line, ">")
		switch sent = strings.TrimPrefix(sent, " "); {
		case isSent && sent == "":
			over = true
		case isSent && !over:
			head = append(head, sent)
		case strings.HasPrefix(line, "*"), strings.HasPrefix(line, "<"), strings.HasPrefix(line, "} ["), strings.HasPrefix(line, "{ ["):
		case over:
			rest = append(rest, line)
		}
	}
	return head, strings.TrimSpace(strings.Join(rest, "\n"))
}

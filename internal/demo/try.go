package demo

import (
	"bytes"
	"fmt"
	"io"
	"text/template"
)

// tryText, over the URL of the MCP endpoint, is a shell transcript to copy: the
// first command keeps the id of the task it makes in a variable, the second
// asks for that task.
var tryText = template.Must(template.New("try").Parse(`
berth stays up at {{.}} until ^C. To try it,
make a task that takes five seconds:

ID=$(curl -s {{.}} \
  -H 'Content-Type: application/json' \
  -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2026-07-28' \
  -H 'Mcp-Method: tools/call' -H 'Mcp-Name: slow_compute' \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
       "name": "slow_compute", "arguments": {"seconds": 5, "label": "mine"},
       "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
       "io.modelcontextprotocol/clientCapabilities": {
       "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}' |
  tee /dev/stderr | sed 's/.*"taskId":"\([^"]*\)".*/\1/')

and ask for it, as often as you like:

curl -s {{.}} \
  -H 'Content-Type: application/json' \
  -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2026-07-28' \
  -H 'Mcp-Method: tasks/get' -H "Mcp-Name: $ID" \
  -d '{"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {
       "taskId": "'$ID'",
       "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
       "io.modelcontextprotocol/clientCapabilities": {
       "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}'

Or probe it, as you may your own balancer (berth probe --help):

berth probe {{.}} --tool slow_compute --args '{"seconds": 60}'
`))

func writeTry(w io.Writer, url string) error {
	var b bytes.Buffer
	if err := tryText.Execute(&b, url); err != nil {
		return fmt.Errorf("demo: what to try: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("demo: print: %w", err)
	}
	return nil
}

package demo

// toTry, with the URL of the MCP endpoint for ENDPOINT, is a shell transcript to copy:
// the first command keeps the id of the task it makes in a variable, the second
// asks for that task.
const toTry = `
berth stays up at ENDPOINT until ^C. To try it,
make a task that takes five seconds:

ID=$(curl -s ENDPOINT \
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

curl -s ENDPOINT \
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

berth probe ENDPOINT --tool slow_compute --args '{"seconds": 60}'
`

#!/bin/sh
# ask.sh PORT METHOD NAME PARAMS: one request of 2026-07-28 to the berth at that port, by a client that takes tasks. PARAMS are the
# members of params: ask.sh 8081 tools/call sleep '"name":"sleep","arguments":{"seconds":3}'
set -eu
curl -s "http://127.0.0.1:$1/mcp" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
	-H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $2" -H "Mcp-Name: $3" \
	-d '{"jsonrpc":"2.0","id":1,"method":"'"$2"'","params":{'"$4"',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"curl","version":"8"},
         "io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}'

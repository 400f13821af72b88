// Command berth is a task-aware reverse proxy and load balancer for the Model
// Context Protocol (MCP) over Streamable HTTP.
package main

func main() {}

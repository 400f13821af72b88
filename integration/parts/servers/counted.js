// Preloaded (node --import) into published servers that keep no count of
// their own: GET /__stats answers with the POSTs and streams they served and,
// of those built on SDK v1's McpServer, the tools they ran.
import { Server } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ToolCounts } from './tool-counts.js';

const stats = { instance: process.env.INSTANCE, posts: 0, streams: 0 };
const tools = new ToolCounts();
const emit = Server.prototype.emit;

Server.prototype.emit = function emitCounted(event, req, res, ...rest) {
  if (event !== 'request') return emit.call(this, event, req, res, ...rest);
  if (req.url === '/__stats') {
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ ...stats, ...tools.stats }));
    return true;
  }
  if (req.method === 'POST') stats.posts++;
  if (req.method === 'GET') stats.streams++;
  return emit.call(this, event, req, res, ...rest);
};

// McpServer checks a call's arguments, as the client sent them, and then runs
// the tool with what it makes of them: one that takes none is not told of any.
// Its calls are told apart by them all the same.
const { validateToolInput, executeToolHandler } = McpServer.prototype;

McpServer.prototype.validateToolInput = async function noted(tool, args, name) {
  const valid = await validateToolInput.call(this, tool, args, name);
  tools.noteRun(name, args);
  return valid;
};

McpServer.prototype.executeToolHandler = function counted(tool, args, extra) {
  return tools.count(() => executeToolHandler.call(this, tool, args, extra), extra.signal);
};

// One instance of a legacy MCP server (2025-11-25) with sessions, built on the
// published SDK v1, whose plain tools ask in mid-call. It knows no tasks.
//
//   node interactive-server.js --port 7101 --name a [--events example|strict|none]
//
// --events says from where its streams can be resumed: from the SDK's example
// store, from one with which the SDK refuses what it cannot replay, or not at all.
//
// GET /__stats tells what this instance has run, so that a test can see that no
// tool ran twice.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EventLog } from './event-log.js';
import { TOOLS } from './interactive-tools.js';
import { ToolCounts } from './tool-counts.js';

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string' },
    name: { type: 'string', default: 'interactive-server' },
    events: { type: 'string', default: 'example' },
  },
});

const RETRY_MS = 100;
const STORES = { example: () => new InMemoryEventStore(), strict: () => new EventLog(), none: () => undefined };

const transports = new Map(); // by session
const counts = new ToolCounts();
const stats = { instance: flags.name, posts: 0, streams: 0, resumed: 0, deletes: 0 };

function newServer() {
  const server = new Server({ name: flags.name, version: '1.0.0' }, { capabilities: { tools: {} } });
  const tools = Object.entries(TOOLS).map(([name, { inputSchema }]) => ({ name, inputSchema }));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `unknown tool ${params.name}`);
    counts.noteRun(params.name, params.arguments);
    return counts.count(() => tool.run({ args: params.arguments ?? {}, extra, counts }), extra.signal);
  });
  return server;
}

async function newTransport() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: STORES[flags.events](),
    retryInterval: RETRY_MS,
    onsessioninitialized: (session) => transports.set(session, transport),
  });
  transport.onclose = () => transports.delete(transport.sessionId);
  await newServer().connect(transport);
  return transport;
}

function note({ method, headers }) {
  if (method === 'POST') stats.posts++;
  if (method === 'GET') stats.streams++;
  if (method === 'DELETE') stats.deletes++;
  if (headers['last-event-id'] !== undefined) stats.resumed++;
}

function refuseSession(res) {
  const error = { code: -32001, message: 'Session not found' };
  res.writeHead(404, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

createServer(async (req, res) => {
  if (req.url === '/__stats') {
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ ...stats, ...counts.stats }));
    return;
  }
  note(req);
  const session = req.headers['mcp-session-id'];
  const transport = session === undefined ? await newTransport() : transports.get(session);
  if (transport) await transport.handleRequest(req, res);
  else refuseSession(res);
}).listen(Number(flags.port), '127.0.0.1', () => console.log(`ready ${flags.name}`));

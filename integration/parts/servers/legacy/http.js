// The sessions of the legacy fixture over HTTP: Streamable HTTP at /mcp, or HTTP+SSE
// (2024-11-05) at /sse.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { EventLog } from '../event-log.js';
import { newServer } from './server.js';

const RETRY_MS = 100;

// What SDK v1's examples say to who names no session, or one that is gone.
const refusals = {
  none: { status: 400, error: { code: -32000, message: 'Bad Request: No valid session ID provided' } },
  foreign: { status: 403, error: { code: -32000, message: 'Forbidden: not a name of loopback' } },
  gone: { status: 404, error: { code: -32001, message: 'Session not found' } },
};

function refuse(res, { status, error }) {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

function challenge(res) {
  res.setHeader('www-authenticate', 'Bearer realm="legacy-fixture"');
  res.writeHead(401, { 'content-type': 'text/plain' }).end('who are you?');
}

// A server on loopback serves who calls it by a name of loopback.
function isLocal({ headers }) {
  const names = [headers.host, headers.origin && new URL(headers.origin).host].filter(Boolean);
  return names.every((name) => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(`http://${name}`).hostname));
}

async function bodyOf(req) {
  let body = '';
  for await (const chunk of req.setEncoding('utf8')) body += chunk;
  return body === '' ? undefined : JSON.parse(body);
}

function streamable(flags, runs, hub) {
  const transports = new Map(); // by session

  async function open() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: flags.json,
      eventStore: flags['event-log'] ? new EventLog() : undefined,
      retryInterval: RETRY_MS,
      onsessioninitialized: (session) => transports.set(session, transport),
    });
    await newServer(flags, runs, hub).connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      transports.delete(transport.sessionId);
      onclose?.();
    };
    return transport;
  }

  async function serve(req, res) {
    const session = req.headers['mcp-session-id'];
    const body = req.method === 'POST' ? await bodyOf(req) : undefined;
    if (session === undefined && body?.method !== 'initialize') return refuse(res, refusals.none);
    const transport = session === undefined ? await open() : transports.get(session);
    if (!transport) return refuse(res, refusals.gone);
    return transport.handleRequest(req, res, body);
  }

  /** forget closes all sessions, as a restart of the server does. */
  async function forget() {
    await Promise.all([...transports.values()].map((transport) => transport.close()));
  }

  return { serve, forget };
}

function withEvents(flags, runs, hub) {
  const transports = new Map(); // by session

  async function serve(req, res) {
    const { pathname, searchParams } = new URL(req.url, 'http://127.0.0.1');
    if (req.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', res);
      transports.set(transport.sessionId, transport);
      const server = newServer(flags, runs, hub);
      await server.connect(transport);
      res.on('close', () => transports.delete(transport.sessionId));
      return undefined;
    }
    const transport = transports.get(searchParams.get('sessionId'));
    if (req.method !== 'POST' || pathname !== '/messages') return refuse(res, { ...refusals.none, status: 405 });
    if (!transport) return refuse(res, refusals.gone);
    return transport.handlePostMessage(req, res);
  }

  async function forget() {
    await Promise.all([...transports.values()].map((transport) => transport.close()));
  }

  return { serve, forget };
}

const TRANSPORTS = { http: streamable, sse: withEvents };

/** serveHttp listens on loopback. */
export function serveHttp(flags, runs, hub) {
  const { serve, forget } = TRANSPORTS[flags.transport](flags, runs, hub);
  const stats = { instance: flags.name, posts: 0, streams: 0, resumed: 0, deletes: 0 };

  function note({ method, headers }) {
    if (method === 'POST') stats.posts++;
    if (method === 'GET') stats.streams++;
    if (method === 'DELETE') stats.deletes++;
    if (headers['last-event-id'] !== undefined) stats.resumed++;
  }

  const looks = {
    '/__stats': () => ({ ...stats, ...hub.stats, ...runs.counts.stats }),
    '/counts': () => ({ begun: runs.begun, ended: runs.ended, cutOff: runs.cutOff }),
  };

  createServer(async (req, res) => {
    const look = looks[req.url];
    if (look) return res.setHeader('content-type', 'application/json').end(JSON.stringify(look()));
    if (req.url === '/forget') return forget().then(() => res.writeHead(204).end());
    note(req);
    if (!isLocal(req)) return refuse(res, refusals.foreign);
    if (flags.token && req.headers.authorization !== `Bearer ${flags.token}`) return challenge(res);
    return serve(req, res).catch((error) => {
      console.error(error);
      res.destroy();
    });
  }).listen(Number(flags.port), '127.0.0.1', () => console.log(`ready ${flags.name}`));
}

// One instance of a modern MCP server (2026-07-28) with the Tasks extension,
// built on the published TypeScript server package. That package has no task
// table of its own: tasks/* are custom methods here.
//
//   node tasks-server.js --port 7101 --name a [--answers json|sse] [--host 127.0.0.2]
//
// GET /__stats tells how much work this instance has done, so that a test can
// see which instance served what and that no tool ran twice. POST /__changed has
// it say that its tools have changed.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';
import { requireTasks, TASKS_EXTENSION, TOOLS } from './fixture-tools.js';
import { namesTasks, serveTaskSubscription } from './task-subscriptions.js';
import { TaskTable } from './task-table.js';

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string' },
    name: { type: 'string', default: 'tasks-server' },
    answers: { type: 'string', default: 'json' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});

const table = new TaskTable();
const stats = { instance: flags.name, toolCalls: 0, tasks: 0, polls: 0, unknownPolls: 0, updates: 0, cancels: 0 };

const takesTasks = (ctx) =>
  ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities']?.extensions?.[TASKS_EXTENSION] !== undefined;

async function callTool({ params }, ctx) {
  const tool = TOOLS[params.name];
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool ${params.name}`);
  stats.toolCalls++;
  const { progressToken } = params._meta ?? {};
  if (progressToken !== undefined) {
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 0 } });
  }
  const result = await tool.run({
    args: params.arguments ?? {},
    table,
    takesTasks: takesTasks(ctx),
    responses: ctx.mcpReq.inputResponses,
    name: flags.name,
  });
  if (result.resultType === 'task') stats.tasks++;
  return result;
}

// The suite wants the capability asked for before the id is looked up.
function known(taskId, ctx) {
  requireTasks(takesTasks(ctx));
  if (table.has(taskId)) return;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown task');
}

function getTask({ taskId }, ctx) {
  stats.polls++;
  if (!table.has(taskId)) stats.unknownPolls++;
  known(taskId, ctx);
  return table.view(taskId);
}

function updateTask({ taskId, inputResponses }, ctx) {
  known(taskId, ctx);
  stats.updates++;
  table.answer(taskId, ctx.mcpReq.inputResponses ?? inputResponses ?? {});
  return {};
}

function cancelTask({ taskId }, ctx) {
  known(taskId, ctx);
  stats.cancels++;
  table.cancel(taskId);
  return {};
}

function newServer() {
  const server = new Server(
    { name: flags.name, version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, extensions: { [TASKS_EXTENSION]: {} } } },
  );
  const params = z.looseObject({ taskId: z.string() });
  const tools = Object.entries(TOOLS).map(([name, { inputSchema }]) => ({ name, inputSchema }));
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', callTool);
  server.setRequestHandler('tasks/get', { params }, getTask);
  server.setRequestHandler('tasks/update', { params }, updateTask);
  server.setRequestHandler('tasks/cancel', { params }, cancelTask);
  return server;
}

async function readJSON(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}

const served = createMcpHandler(newServer, { responseMode: flags.answers });
const handle = toNodeHandler(served);

function refuseUnparsable(res) {
  res.writeHead(400, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32700, message: 'not JSON' } }));
}

createServer(async (req, res) => {
  if (req.url === '/__stats') {
    res.setHeader('content-type', 'application/json').end(JSON.stringify(stats));
    return;
  }
  if (req.url === '/__changed') {
    served.notify.toolsChanged();
    res.end();
    return;
  }
  if (req.method !== 'POST') {
    await handle(req, res);
    return;
  }
  const message = await readJSON(req);
  if (message === undefined) refuseUnparsable(res);
  else if (namesTasks(message)) serveTaskSubscription(table, message, res);
  else await handle(req, res, message);
}).listen(Number(flags.port), flags.host, () => console.log(`ready ${flags.name}`));

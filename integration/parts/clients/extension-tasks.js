// Drives the Tasks extension (2026-07-28) with the published client package
// and ext-tasks, against tasks-server.js, or the taskless server behind berth:
// a job, a job that fails, a job that asks for input and a job that is
// cancelled, in turn, all at once. With --tools everything it is what the published
// server-everything has, behind berth, one after the other.
// With --tools native they are calls of the one tool there that the core makes tasks
// of (2025-11-25).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createApplicationInputHandler, createTaskSessionFromClient, taskViewFromExecutionEvent } from '@modelcontextprotocol/ext-tasks/client';
import { flags, messagesIn, Report } from './report.js';

const PROTOCOL_VERSION = '2026-07-28';

const { url, calls, tools } = flags();
const report = new Report();
const clientInfo = { name: 'extension-tasks', version: '1.0.0' };
const clientCapabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };

// ext-tasks leaves the wire to its host: the SDK's own codecs refuse task shapes.
let nextID = 0;
async function dispatch(request, { signal } = {}) {
  const { taskId, name } = request.params;
  const response = await report.fetch(url, {
    method: 'POST',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': PROTOCOL_VERSION,
      'mcp-method': request.method,
      'mcp-name': taskId ?? name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: nextID++, ...request }),
  });
  const { result, error } = messagesIn(await response.text()).at(-1);
  return error ? { kind: 'error', error } : { kind: 'result', result };
}

const refuse = () => {
  throw new Error('not asked for by any tool here');
};

async function withSession(use) {
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: 'auto' },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: report.fetch }));
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    rawDispatch: dispatch,
    v2RequestFraming: { protocolVersion: PROTOCOL_VERSION, clientInfo, clientCapabilities },
    onInputRequest: createApplicationInputHandler({
      elicitation: () => ({ action: 'accept', content: { confirm: true, interpretation: 'snake' } }),
      sampling: refuse,
      roots: refuse,
    }),
  });
  try {
    return await use(session);
  } finally {
    await session.close();
    await client.close();
  }
}

async function settled(tool, args) {
  return withSession(async (session) => {
    const execution = await session.callTool(tool, args);
    const { outcome } = await execution.settle();
    if (outcome.status !== 'completed') {
      throw new Error(`the task ended ${outcome.status}`, { cause: outcome.error });
    }
    return outcome.result;
  });
}

const job = async (i) => {
  const { content } = await settled('slow_compute', { seconds: 0.4, label: `job-${i}` });
  return content[0].text.startsWith(`job-${i} done`) ? undefined : `answered with ${content[0].text}`;
};

const failing = async (i) => {
  const { isError } = await settled('failing_job', { label: `failing-${i}` });
  return isError ? undefined : 'the failure was lost';
};

const input = async (i) => {
  const { content } = await settled('confirm_delete', { filename: `file-${i}` });
  const [{ text }] = content;
  return text.includes(`file-${i}`) && /deleted/i.test(text) ? undefined : `answered with ${text}`;
};

const cancelled = async (i) =>
  withSession(async (session) => {
    const execution = await session.callTool('slow_compute', { seconds: 60, label: `long-${i}` });
    await execution.cancel();
    const { outcome } = await execution.settle();
    return outcome.status === 'cancelled' ? undefined : `ended ${outcome.status}`;
  });

const research = (ambiguous) => async (i) => {
  const { content } = await settled('simulate-research-query', { topic: `python ${i}`, ambiguous });
  const title = `# Research Report: python ${i}${ambiguous ? ' (snake)' : ''}\n`;
  return content[0].text.startsWith(title) ? undefined : `answered with ${content[0].text}`;
};

const dropped = async () =>
  withSession(async (session) => {
    const execution = await session.callTool('simulate-research-query', { topic: 'dropped' });
    await execution.cancel();
    const { outcome } = await execution.settle();
    return outcome.status === 'cancelled' ? undefined : `ended ${outcome.status}`;
  });

// The messages of a task's status are the progress of its call.
const operation = async (i) =>
  withSession(async (session) => {
    const duration = 1.2 + i / 10_000;
    const execution = await session.callTool('trigger-long-running-operation', { duration, steps: 3 });
    const messages = new Set();
    const { outcome } = await execution.settle({
      onEvent: (event) => {
        messages.add(taskViewFromExecutionEvent(event)?.statusMessage);
      },
    });
    if (execution.kind !== 'task') return 'was no task';
    const [{ text }] = outcome.result.content;
    if (!text.includes(`Duration: ${duration} seconds, Steps: 3`)) return `answered with ${text}`;
    return [...messages].some((message) => /\b[123]\b.*\b3\b/.test(message)) ? undefined : `told ${[...messages]}`;
  });

const asking = async () => {
  const { content } = await settled('trigger-elicitation-request', {});
  return content[0].text.includes('User provided') ? undefined : `answered with ${content[0].text}`;
};

const run = (kind, i) => report.run(`${kind.name} ${i}`, () => kind(i));

if (tools === 'everything') {
  for (let i = 0; i < calls; i++) await run([operation, asking][i % 2], i);
} else {
  const KINDS = tools === 'native' ? [research(false), research(true), dropped] : [job, input, failing, cancelled];
  await Promise.all(Array.from({ length: calls }, (_, i) => run(KINDS[i % KINDS.length], i)));
}
report.finish();

// Plain tools that ask in mid-call, on the stream of their call, and wait for
// the answer: those of SDK v1's interactive task example, with its questions,
// and some that take their time.
import { setTimeout as pause } from 'node:timers/promises';
import { CreateMessageResultSchema, ElicitResultSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

// A tool works a little before it asks and after it has the answer, so that
// whoever carries its call can be lost in between.
const WORKS_MS = 50;
const PROGRESS_MS = 200;
const ANSWER_WITHIN_MS = 600_000; // unless the call says how patient it is

const text = (line) => ({ content: [{ type: 'text', text: line }] });

const form = (property, type) => ({
  type: 'object',
  properties: { [property]: { type } },
  required: [property],
});

// ask sends a request on the call's stream; a call that is withdrawn withdraws it too.
async function ask({ args, extra, counts }, request, answer) {
  await pause(WORKS_MS, undefined, { signal: extra.signal });
  counts.stats.questions++;
  const timeout = args.patience ?? ANSWER_WITHIN_MS;
  const given = await extra.sendRequest(request, answer, { timeout, signal: extra.signal });
  await pause(WORKS_MS, undefined, { signal: extra.signal });
  return given;
}

const elicit = (call, message, requestedSchema) =>
  ask(call, { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }, ElicitResultSchema);

async function confirmDelete(call) {
  const { filename } = call.args;
  const { action, content } = await elicit(call, `Are you sure you want to delete '${filename}'?`, form('confirm', 'boolean'));
  return text(action === 'accept' && content?.confirm ? `Deleted '${filename}'` : 'Deletion cancelled');
}

async function writeHaiku(call) {
  const content = { type: 'text', text: `Write a haiku about ${call.args.topic}` };
  const params = { messages: [{ role: 'user', content }], maxTokens: 50 };
  const haiku = await ask(call, { method: 'sampling/createMessage', params }, CreateMessageResultSchema);
  return text(`Haiku:\n${haiku.content.text}`);
}

async function multiInput(call) {
  const [first, second] = await Promise.all([
    elicit(call, 'Your first name?', form('name', 'string')),
    elicit(call, 'Your second name?', form('name', 'string')),
  ]);
  return text(`${first.content?.name} and ${second.content?.name}`);
}

async function slowCompute({ args, extra }) {
  const { progressToken } = extra._meta ?? {};
  const end = Date.now() + args.seconds * 1000;
  for (let left = args.seconds * 1000; left > 0; left = end - Date.now()) {
    if (progressToken !== undefined) {
      const params = { progressToken, progress: args.seconds - left / 1000, total: args.seconds, message: args.label };
      await extra.sendNotification({ method: 'notifications/progress', params });
    }
    await pause(Math.min(left, PROGRESS_MS), undefined, { signal: extra.signal });
  }
  return text(`${args.label} done`);
}

// As the SDK's polling example does, it ends its stream in mid-call.
async function interruptedJob({ args, extra }) {
  await pause(WORKS_MS, undefined, { signal: extra.signal });
  extra.closeSSEStream?.();
  await pause(4 * WORKS_MS, undefined, { signal: extra.signal });
  return text(`${args.label} done`);
}

async function failingJob({ extra }) {
  await pause(4 * WORKS_MS, undefined, { signal: extra.signal });
  return { ...text('the job went wrong'), isError: true };
}

async function protocolErrorJob({ extra }) {
  await pause(4 * WORKS_MS, undefined, { signal: extra.signal });
  throw new McpError(ErrorCode.InternalError, 'the job broke');
}

const takes = (properties) => ({ type: 'object', properties });
const label = { label: { type: 'string' } };
const patience = { patience: { type: 'number' } };

export const TOOLS = {
  confirm_delete: { inputSchema: takes({ ...patience, filename: { type: 'string' } }), run: confirmDelete },
  write_haiku: { inputSchema: takes({ ...patience, topic: { type: 'string' } }), run: writeHaiku },
  multi_input: { inputSchema: takes(label), run: multiInput },
  slow_compute: { inputSchema: takes({ ...label, seconds: { type: 'number' } }), run: slowCompute },
  interrupted_job: { inputSchema: takes(label), run: interruptedJob },
  failing_job: { inputSchema: takes(label), run: failingJob },
  protocol_error_job: { inputSchema: takes(label), run: protocolErrorJob },
};

// Drives core tasks (2025-11-25) of plain tools with the published SDK v1
// client: what a server behind berth does not have of its own. One session
// makes a call of each kind, all at once; sessions run beside each other.
//
//   node upgraded-tools.js --url URL --calls 20 --tools interactive|taskless|everything|fixture
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { SERVERS } from './plain-tools.js';
import { flags, Report } from './report.js';

const RELATED = 'io.modelcontextprotocol/related-task';
const CANCELLED = -32603;
const INVALID_PARAMS = -32602;

const { url, calls, tools } = flags();
const report = new Report();
const kinds = Object.entries(SERVERS[tools]);

/** Session is one client, which answers all that it is asked and counts that by task. */
class Session {
  #asked = new Map();

  async open() {
    const capabilities = { elicitation: {}, sampling: {} };
    this.client = new Client({ name: 'upgraded-tools', version: '1.0.0' }, { capabilities });
    this.client.setRequestHandler(ElicitRequestSchema, ({ params }) => this.#answer(params, () => filledIn(params.requestedSchema)));
    this.client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => this.#answer(params, () => echoed(params.messages)));
    this.transport = new StreamableHTTPClientTransport(new URL(url), { fetch: report.fetch });
    await this.client.connect(this.transport);
    // The library makes tasks of those tools only that it has seen to be fit for it.
    await this.client.listTools();
  }

  asked(taskId) {
    return this.#asked.get(taskId) ?? 0;
  }

  async close() {
    await this.transport.terminateSession();
    await this.client.close();
  }

  #answer({ _meta }, answer) {
    const taskId = _meta?.[RELATED]?.taskId;
    this.#asked.set(taskId, this.asked(taskId) + 1);
    return answer();
  }
}

function filledIn({ properties }) {
  const value = ({ type }) => (type === 'boolean' ? true : 'given');
  const required = Object.entries(properties).filter(([key]) => ['confirm', 'name', 'username'].includes(key));
  return { action: 'accept', content: Object.fromEntries(required.map(([key, schema]) => [key, value(schema)])) };
}

const echoed = (messages) => ({
  role: 'assistant',
  model: 'echo',
  content: { type: 'text', text: [messages].flat()[0].content.text },
});

// start makes the task and leaves the rest of its stream to the caller.
async function start({ client }, { tool, args }, options) {
  const params = { name: tool, arguments: args };
  const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema, options);
  const { value } = await stream.next();
  if (value.type === 'error') throw value.error;
  if (value.type !== 'taskCreated') throw new Error(`${tool} was answered with a ${value.type}, not with a task`);
  return { stream, taskId: value.task.taskId };
}

async function ended(stream) {
  for await (const message of stream) if (message.type === 'result' || message.type === 'error') return message;
  throw new Error('the stream ended without an end');
}

function complaint(session, taskId, call, result) {
  const text = result.content[0].text;
  if (!text.includes(call.want)) return `answered with ${text}`;
  if (result._meta?.[RELATED]?.taskId !== taskId) return 'the result does not name its task';
  const asked = session.asked(taskId);
  return asked === (call.asks ?? 0) ? undefined : `asked back ${asked} times`;
}

// Who polls until the end, as the library does.
async function polled(session, call) {
  const { stream, taskId } = await start(session, call);
  const { type, result, error } = await ended(stream);
  if (type === 'error') throw error;
  return complaint(session, taskId, call, result);
}

// Who waits for the result at once, and is told how far it is meanwhile.
async function awaited(session, call) {
  let told = 0;
  const { taskId } = await start(session, call, { onprogress: () => told++ });
  const result = await session.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  if (call.progress && told === 0) return 'no progress';
  return complaint(session, taskId, call, result);
}

async function failing(session, call) {
  const { stream, taskId } = await start(session, call);
  const { type } = await ended(stream);
  if (type !== 'error') return 'the failure was lost';
  const { status } = await session.client.experimental.tasks.getTask(taskId);
  const result = await session.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  if (status !== 'failed' || !result.isError) return `ended ${status}, isError ${result.isError}`;
  return complaint(session, taskId, call, result);
}

async function cancelled(session, call) {
  const { tasks } = session.client.experimental;
  const { taskId } = await start(session, call);
  report.mayRefuse(taskId);
  const answer = await tasks.cancelTask(taskId);
  const { status } = await tasks.getTask(taskId);
  const codes = [await refusal(tasks.getTaskResult(taskId, CallToolResultSchema)), await refusal(tasks.cancelTask(taskId))];
  if (answer.status !== 'cancelled' || status !== 'cancelled') return `became ${answer.status}, then ${status}`;
  if (codes.join() !== [CANCELLED, INVALID_PARAMS].join()) return `its result and another cancel were refused with ${codes}`;
  return undefined;
}

const refusal = (answer) => answer.then(() => 'nothing', ({ code }) => code);

const WAYS = { failing, cancelled };

function way(kind, i) {
  return WAYS[kind] ?? (i % 2 === 0 ? polled : awaited);
}

async function inOneSession(first, count) {
  const session = new Session();
  const opened = session.open();
  const one = async (i) => {
    const [kind, call] = kinds[i % kinds.length];
    await report.run(`${kind} ${i}`, async () => {
      await opened;
      return way(kind, Math.floor(i / kinds.length))(session, call(i));
    });
  };
  await Promise.all(Array.from({ length: count }, (_, i) => one(first + i)));
  await session.close().catch(() => {}); // whoever could not open it has said so
}

const sessions = [];
for (let first = 0; first < calls; first += kinds.length) {
  sessions.push(inOneSession(first, Math.min(kinds.length, calls - first)));
}
await Promise.all(sessions);
report.finish();

// Tools by which a test sees what a session is to a server, and what befalls a
// call that asks.
import { setTimeout as pause } from 'node:timers/promises';
import { elicit } from './ask.js';
import { says } from './samples.js';

const string = { type: 'string' };
const takes = (properties) => ({ type: 'object', properties });

/** A tool that runs once says what it was told in both of its rounds, under its own nonce. */
async function twoQuestions(call) {
  const { nonce } = call.args;
  const first = await elicit(call, `${nonce}: first?`, { answer: string });
  const second = await elicit(call, `${nonce}: second?`, { answer: string });
  return says(`${nonce}: ${first.content?.answer ?? first.action} then ${second.content?.answer ?? second.action}`);
}

async function oneQuestion(call) {
  const { nonce } = call.args;
  const { action, content } = await elicit(call, `${nonce}: well?`, { answer: string });
  return says(`${nonce}: ${content?.answer ?? action}`);
}

// It has its answer, and works with it until its call is withdrawn.
async function slowAnswer(call) {
  await elicit(call, 'Well?', { answer: string });
  call.note('answered');
  await pause(600_000, undefined, { signal: call.extra.signal });
  return says('done at last');
}

// Whom it asks, it tells meanwhile how far it is, and what it does.
async function talkative(call) {
  const { progressToken } = call.extra._meta ?? {};
  const tell = async (progress) => {
    await call.log('info', `step ${progress}`);
    await call.log('debug', `detail ${progress}`);
    if (progressToken === undefined) return;
    await call.extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
  };
  await tell(1);
  const { content } = await elicit(call, 'Go on?', { answer: string });
  await tell(2);
  return says(`went on: ${content?.answer}`);
}

const session = ({ server, memory, extra }) =>
  says(
    JSON.stringify({
      session: extra.sessionId ?? `pid ${process.pid}`,
      client: server.getClientVersion(),
      capabilities: server.getClientCapabilities(),
      headers: extra.requestInfo?.headers ?? {},
      meta: extra._meta ?? {},
      remembered: memory.value ?? null,
    }),
  );

function remember({ memory, args }) {
  memory.value = args.value;
  return says(`remembered ${args.value}`);
}

async function touch({ hub, args }) {
  await hub.touched(args.uri);
  return says(`touched ${args.uri}`);
}

const change = (what) => async (call) => {
  await call.hub.changed(what, call.server);
  return says(`${what} changed`);
};

export const SESSION_TOOLS = {
  two_questions: { inputSchema: takes({ nonce: string, patience: { type: 'number' } }), run: twoQuestions },
  one_question: { inputSchema: takes({ nonce: string, patience: { type: 'number' } }), run: oneQuestion },
  slow_answer: { inputSchema: takes({ nonce: string }), run: slowAnswer },
  talkative: { run: talkative },
  session: { run: session },
  remember: { inputSchema: takes({ value: string }), run: remember },
  touch_resource: { inputSchema: takes({ uri: string }), run: touch },
  test_trigger_tool_change: { run: change('tools') },
  test_trigger_prompt_change: { run: change('prompts') },
};

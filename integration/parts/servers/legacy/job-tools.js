// The tools of the suite's tasks-* scenarios, of which this server makes no
// tasks: they take their time, and ask in mid-call.
import { setTimeout as pause } from 'node:timers/promises';
import { TOOLS } from '../interactive-tools.js';
import { elicit } from './ask.js';
import { says } from './samples.js';

const WORKS_MS = 3000; // longer than a rule waits for the plain answer to a round

async function greetSlowly(call) {
  const { content } = await elicit(call, 'Your name?', { name: { type: 'string' } });
  await pause(WORKS_MS, undefined, { signal: call.extra.signal });
  return says(`Hello, ${content?.name}!`);
}

export const JOB_TOOLS = {
  greet: {
    inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
    run: ({ args }) => says(`Hello, ${args.name}!`),
  },
  slow_compute: TOOLS.slow_compute,
  failing_job: TOOLS.failing_job,
  protocol_error_job: { ...TOOLS.protocol_error_job, breaks: true },
  confirm_delete: TOOLS.confirm_delete,
  multi_input: TOOLS.multi_input,
  test_tool_with_task: { run: greetSlowly },
};

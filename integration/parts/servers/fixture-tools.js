// The tools that the conformance suite's tasks-* scenarios call, by name.
// Each takes { args, table, takesTasks, responses, name } and answers with the
// result of tools/call.
import { setTimeout as delay } from 'node:timers/promises';
import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const text = (text) => ({ content: [{ type: 'text', text }] });

const confirmation = (message) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  },
});

const question = (message) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
});

/** requireTasks refuses a client that did not declare the extension: -32021. */
export function requireTasks(takesTasks) {
  if (takesTasks) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

async function slowCompute({ args, table, takesTasks, name }) {
  const ms = Number(args.seconds ?? 0) * 1000;
  const result = text(`${args.label ?? 'slow_compute'} done by ${name}`);
  if (!takesTasks) {
    await delay(ms);
    return result;
  }
  const task = table.create();
  table.completeAfter(task.taskId, ms, result);
  return task;
}

function failingJob({ table, takesTasks }) {
  requireTasks(takesTasks);
  const task = table.create();
  table.completeAfter(task.taskId, 50, { ...text('the job went wrong'), isError: true });
  return task;
}

function protocolErrorJob({ table, takesTasks }) {
  requireTasks(takesTasks);
  const task = table.create();
  setTimeout(() => table.fail(task.taskId, { code: -32603, message: 'the job broke' }), 50);
  return task;
}

function confirmDelete({ args, table, takesTasks, name }) {
  requireTasks(takesTasks);
  const task = table.create();
  const asked = { confirm: confirmation(`Delete ${args.filename}?`) };
  table.ask(task.taskId, asked, ({ confirm }) => {
    const verdict = confirm.action === 'accept' ? 'deleted' : 'kept';
    table.complete(task.taskId, text(`${args.filename} ${verdict} by ${name}`));
  });
  return task;
}

function multiInput({ table, takesTasks, name }) {
  requireTasks(takesTasks);
  const task = table.create();
  const asked = { first: question('Your first name?'), second: question('Your second name?') };
  table.ask(task.taskId, asked, () => table.complete(task.taskId, text(`both answers taken by ${name}`)));
  return task;
}

// Two rounds: the answer is gathered before there is a task.
function toolWithTask({ table, takesTasks, responses }) {
  requireTasks(takesTasks);
  if (!responses?.user_name) {
    return {
      resultType: 'input_required',
      inputRequests: { user_name: question('Your name?') },
      requestState: 'asked-for-the-name',
    };
  }
  const task = table.create();
  table.completeAfter(task.taskId, 50, text(`Hello, ${responses.user_name.content.name}!`));
  return task;
}

const schema = (properties = {}) => ({ type: 'object', properties });

export const TOOLS = {
  greet: {
    inputSchema: schema({ name: { type: 'string' } }),
    run: ({ args }) => text(`Hello, ${args.name}!`),
  },
  slow_compute: {
    inputSchema: schema({ seconds: { type: 'number' }, label: { type: 'string' } }),
    run: slowCompute,
  },
  failing_job: { inputSchema: schema(), run: failingJob },
  protocol_error_job: { inputSchema: schema(), run: protocolErrorJob },
  confirm_delete: { inputSchema: schema({ filename: { type: 'string' } }), run: confirmDelete },
  multi_input: { inputSchema: schema(), run: multiInput },
  test_tool_with_task: { inputSchema: schema(), run: toolWithTask },
};

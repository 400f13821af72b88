// What the drivers of upgraded tools call, by kind, on each server that the
// tests have: arguments that name the call, so that the server can tell that
// it ran once, and what its result begins with, or has in it.

const named = (i) => `call-${i}`;

const slowCompute = (i, seconds) => ({ tool: 'slow_compute', args: { seconds, label: named(i) }, want: `${named(i)} done` });
const failingJob = (i) => ({ tool: 'failing_job', args: { label: named(i) }, want: 'the job went wrong' });
const confirmDelete = (i, want) => ({ tool: 'confirm_delete', args: { filename: named(i) }, want, asks: 1 });
const multiInput = (i) => ({ tool: 'multi_input', args: { label: named(i) }, want: 'given and given', asks: 2 });
const operation = (duration) => ({
  tool: 'trigger-long-running-operation',
  args: { duration, steps: 2 },
  want: `Duration: ${duration} seconds, Steps: 2`,
});

const confirmed = (i) => confirmDelete(i, `Deleted '${named(i)}'`);

export const SERVERS = {
  // parts/servers/legacy-fixture.js
  legacy: {
    job: (i) => ({ ...slowCompute(i, 0.5), progress: true }),
    input: confirmed,
    inputs: multiInput,
    rounds: (i) => ({ tool: 'two_questions', args: { nonce: named(i) }, want: `${named(i)}: given then given`, asks: 2 }),
    sample: (i) => ({ tool: 'test_sampling', args: { prompt: named(i) }, want: `LLM response: ${named(i)}`, asks: 1 }),
    failing: failingJob,
  },
  // parts/servers/interactive-server.js
  interactive: {
    job: (i) => ({ ...slowCompute(i, 1.5), progress: true }),
    input: confirmed,
    sample: (i) => ({ tool: 'write_haiku', args: { topic: named(i) }, want: `Write a haiku about ${named(i)}`, asks: 1 }),
    inputs: multiInput,
    failing: failingJob,
    cancelled: (i) => slowCompute(i, 15),
    interrupted: (i) => ({ tool: 'interrupted_job', args: { label: named(i) }, want: `${named(i)} done` }),
  },
  // godriver/taskless -sessions
  taskless: {
    job: (i) => ({ ...slowCompute(i, 1.5), progress: true }),
    input: (i) => confirmDelete(i, `${named(i)} deleted`),
    inputs: multiInput,
    failing: failingJob,
    cancelled: (i) => slowCompute(i, 15),
  },
  // the published server-everything, whose long operation nothing stops
  everything: {
    job: (i) => ({ ...operation(1.5 + i / 10_000), progress: true }),
    input: (i) => ({ tool: 'trigger-elicitation-request', args: { call: named(i) }, want: 'User provided', asks: 1 }),
    sample: (i) => ({ tool: 'trigger-sampling-request', args: { prompt: named(i) }, want: named(i), asks: 1 }),
    failing: (i) => ({ tool: 'get-resource-reference', args: { resourceType: 'Text', resourceId: -1 - i }, want: 'Invalid resourceId' }),
    cancelled: (i) => operation(2 + i / 10_000),
  },
  // go-sdk's fixture for the suite's core scenarios, of which only a question takes long
  fixture: {
    job: (i) => ({ tool: 'test_tool_with_logging', args: { call: named(i) }, want: 'Tool with logging executed' }),
    input: (i) => ({ tool: 'test_elicitation', args: { message: named(i) }, want: 'action=accept', asks: 1 }),
    sample: (i) => ({ tool: 'test_sampling', args: { prompt: named(i) }, want: named(i), asks: 1 }),
    failing: (i) => ({ tool: 'test_error_handling', args: { call: named(i) }, want: 'intentionally returns an error' }),
    cancelled: (i) => ({ tool: 'test_elicitation', args: { message: `unanswered ${named(i)}` } }),
  },
  // the published server-memory
  memory: {
    entity: (i) => ({
      tool: 'create_entities',
      args: { entities: [{ name: named(i), entityType: 'call', observations: ['made'] }] },
      want: named(i),
    }),
    search: (i) => ({ tool: 'search_nodes', args: { query: `none-${i}` }, want: '"entities": []' }),
  },
  // the published server-filesystem, in a directory that has a file greeting.txt
  filesystem: {
    list: () => ({ tool: 'list_allowed_directories', args: {}, want: 'Allowed directories' }),
    failing: (i) => ({ tool: 'read_text_file', args: { path: `/nowhere/${named(i)}` }, want: 'Access denied' }),
  },
};

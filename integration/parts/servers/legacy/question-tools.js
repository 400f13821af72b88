// The tools of the suite's scenarios that ask, as a legacy server can mean them:
// what a modern one asks between rounds, these ask in mid-call.
import { elicit, roots, sample, visit } from './ask.js';
import { says } from './samples.js';

const string = { type: 'string' };
const boolean = { type: 'boolean' };

const completed = ({ action, content }) => says(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
const told = ({ content }) => [content].flat()[0].text;

async function name(call) {
  const { action, content } = await elicit(call, 'What is your name?', { name: string });
  return says(action === 'accept' ? `Hello, ${content.name}!` : `No name: ${action}`);
}

async function multiRound(call) {
  const { content: first } = await elicit(call, 'Step 1: What is your name?', { name: string });
  const { content: second } = await elicit(call, 'Step 2: What is your favorite color?', { color: string });
  return says(`${first?.name} likes ${second?.color}`);
}

async function multipleInputs(call) {
  const [user, greeting, client] = await Promise.all([
    elicit(call, 'What is your name?', { name: string }),
    sample(call, 'Generate a greeting', 50),
    roots(call),
  ]);
  return says(`${told(greeting)} ${user.content?.name}, of ${client.roots.length} roots`);
}

// A server that asks only what the client of its session declared.
async function capabilities(call) {
  const { elicitation, sampling } = call.server.getClientCapabilities();
  const asked = [];
  if (elicitation) asked.push(elicit(call, 'What is your name?', { name: string }));
  if (sampling) asked.push(sample(call, 'What is the capital of France?'));
  await Promise.all(asked);
  return says(`asked ${asked.length} questions`);
}

async function confirmed(call) {
  const { action } = await elicit(call, 'Please confirm', { ok: boolean });
  return says(`state-ok, ${action}`);
}

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const OPTIONS = ['option1', 'option2', 'option3'];
const titled = (what) => ['First', 'Second', 'Third'].map((nth, i) => ({ const: `value${i + 1}`, title: `${nth} ${what}` }));

const ENUMS = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

const takes = (properties) => ({ type: 'object', properties });

export const QUESTION_TOOLS = {
  test_sampling: {
    inputSchema: takes({ prompt: string }),
    run: async (call) => says(`LLM response: ${told(await sample(call, call.args.prompt ?? 'Say something'))}`),
  },
  test_elicitation: {
    inputSchema: takes({ message: string }),
    run: async (call) => completed(await elicit(call, call.args.message ?? 'Who are you?', { username: string, email: string })),
  },
  test_elicitation_sep1034_defaults: { run: async (call) => completed(await elicit(call, 'Please review', DEFAULTS)) },
  test_elicitation_sep1330_enums: { run: async (call) => completed(await elicit(call, 'Please choose', ENUMS)) },
  test_streaming_elicitation: { run: name },
  // It asks whether or not the client of its session can be asked.
  test_missing_capability: { run: async (call) => says(told(await sample(call, 'Anything?'))) },

  test_input_required_result_elicitation: { run: name },
  test_input_required_result_sampling: { run: async (call) => says(told(await sample(call, 'What is the capital of France?'))) },
  test_input_required_result_list_roots: { run: async (call) => says(JSON.stringify((await roots(call)).roots)) },
  test_input_required_result_request_state: { run: confirmed },
  test_input_required_result_multiple_inputs: { run: multipleInputs },
  test_input_required_result_multi_round: { run: multiRound },
  test_input_required_result_tampered_state: { run: confirmed },
  test_input_required_result_capabilities: { run: capabilities },

  test_url_elicitation: {
    run: async (call) => {
      const { action } = await visit(call, 'Please sign in', 'https://example.com/sign-in');
      await call.extra.sendNotification({ method: 'notifications/elicitation/complete', params: { elicitationId: 'visit-1' } });
      return says(`visited: ${action}`);
    },
  },
};

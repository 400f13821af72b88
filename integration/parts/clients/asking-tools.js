// Calls plain tools in the modern era (2026-07-28) with the published client package, which goes
// through the rounds of a call by itself: what it is asked between them it answers.
//
//   node asking-tools.js --url URL --calls 24 --tools legacy|everything|memory|filesystem
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SERVERS } from './plain-tools.js';
import { flags, Report } from './report.js';

const PROTOCOL_VERSION = '2026-07-28';

const { url, calls, tools } = flags();
const report = new Report();
const kinds = Object.entries(SERVERS[tools]).filter(([kind]) => kind !== 'cancelled'); // a call without an end

function filledIn({ properties }) {
  const value = ({ type }) => (type === 'boolean' ? true : 'given');
  const known = Object.entries(properties).filter(([key]) => ['confirm', 'name', 'username', 'answer'].includes(key));
  return { action: 'accept', content: Object.fromEntries(known.map(([key, schema]) => [key, value(schema)])) };
}

const echoed = (messages) => ({
  role: 'assistant',
  model: 'echo',
  content: { type: 'text', text: [messages].flat()[0].content.text },
});

async function complaint({ tool, args, want, asks = 0, progress }) {
  let asked = 0;
  let told = 0;
  const answer = (answered) => {
    asked++;
    return answered;
  };
  const client = new Client(
    { name: 'asking-tools', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode: { pin: PROTOCOL_VERSION } } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => answer(filledIn(params.requestedSchema)));
  client.setRequestHandler('sampling/createMessage', ({ params }) => answer(echoed(params.messages)));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    const result = await client.callTool({ name: tool, arguments: args }, progress ? { onprogress: () => told++ } : undefined);
    const said = JSON.stringify(result.content);
    if (!result.content.some(({ text }) => text?.includes(want))) return `answered with ${said}`;
    if (asked !== asks) return `asked ${asked} times`;
    return progress && told === 0 ? 'no progress' : undefined;
  } finally {
    await client.close();
  }
}

await Promise.all(
  Array.from({ length: calls }, (_, i) => {
    const [kind, call] = kinds[i % kinds.length];
    return report.run(`${kind} ${i}`, () => complaint(call(i)));
  }),
);
report.finish();

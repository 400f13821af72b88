// Drives the core tasks of 2025-11-25 with the published SDK v1 client, one
// session a call, against the published server-everything. Every second call
// is ambiguous: the server asks back, and the client's answer is a bare
// JSON-RPC response that only its session can route.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { flags, Report } from './report.js';

const { url, calls } = flags();
const report = new Report();

async function research(topic, ambiguous) {
  const client = new Client({ name: 'core-tasks', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, () => {
    asked++;
    return { action: 'accept', content: { interpretation: 'historical' } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: report.fetch }));
  try {
    // The library sends the task parameter only for tools that it has seen to want it.
    await client.listTools();
    const answer = await resultOf(client, { name: 'simulate-research-query', arguments: { topic, ambiguous } });
    if (!answer.includes(topic)) return 'the report is about something else';
    if (ambiguous && asked !== 1) return `asked back ${asked} times`;
    return undefined;
  } finally {
    await client.close();
  }
}

async function resultOf(client, params) {
  const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema);
  for await (const message of stream) {
    if (message.type === 'error') throw message.error;
    if (message.type === 'result') return message.result.content[0].text;
  }
  throw new Error('the stream ended without a result');
}

await Promise.all(
  Array.from({ length: calls }, (_, i) => report.run(`call ${i}`, () => research(`topic-${i}`, i % 2 === 1))),
);
report.finish();

// Drives sessions that lose their instance, with the published SDK v1 client
// against the published server-everything. Each session sets itself up, says
// so on stderr when all have, waits until the file --resume is there, and then
// goes on as if nothing had happened: same session, no second connect.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { flags, Report } from './report.js';

const RESOURCE = 'demo://resource/dynamic/text/1';
const UPDATE_WITHIN_MS = 30_000; // the server tells of updates every 5 s

const { url, calls, resume } = flags();
const report = new Report();

let waiting = 0;
async function lossOfTheInstance() {
  if (++waiting === calls) process.stderr.write('ready to lose the instance\n');
  while (!existsSync(resume)) await delay(20);
}

async function echo(client, message) {
  const { content } = await client.callTool({ name: 'echo', arguments: { message } });
  if (!content[0].text.includes(message)) throw new Error(`echoed ${content[0].text}`);
}

async function updateHeard(client) {
  const heard = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  });
  await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
  return Promise.race([heard, delay(UPDATE_WITHIN_MS, 'nothing', { ref: false })]);
}

async function session(label) {
  const client = new Client({ name: 'moving-sessions', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, () => {
    asked++;
    return { action: 'decline' };
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const { sessionId } = transport;
  await client.setLoggingLevel('error');
  await client.subscribeResource({ uri: RESOURCE });
  await echo(client, `${label} before`);
  await lossOfTheInstance();
  for (let i = 0; i < 3; i++) await echo(client, `${label} after ${i}`);
  await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
  if (asked !== 1) return `asked back ${asked} times`;
  const uri = await updateHeard(client);
  if (uri !== RESOURCE) return `heard of ${uri}`;
  if (transport.sessionId !== sessionId) return 'in another session';
  await transport.terminateSession();
  await client.close();
  return undefined;
}

await Promise.all(Array.from({ length: calls }, (_, i) => report.run(`session ${i}`, () => session(`session-${i}`))));
report.finish();

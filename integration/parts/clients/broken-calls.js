// Makes calls whose server dies in mid-call, with the published SDK v1 client or, with
// --library v2, SDK v2's. A call is right if its client is told of the loss, and does not wait
// for its own time-out.
import * as v2 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { flags, Report } from './report.js';

const TIMEOUT_MS = 45_000;

const { url, calls, library } = flags();
const { Client: Made, StreamableHTTPClientTransport: Transport } =
  library === 'v2' ? v2 : { Client, StreamableHTTPClientTransport };
const report = new Report();

async function brokenCall(i) {
  const client = new Made({ name: 'broken-calls', version: '1.0.0' }, { capabilities: {} });
  await client.connect(new Transport(new URL(url)));
  const operation = { name: 'trigger-long-running-operation', arguments: { duration: 3600 + i, steps: 3600 } };
  const call = library === 'v2'
    ? client.callTool(operation, { timeout: TIMEOUT_MS })
    : client.callTool(operation, undefined, { timeout: TIMEOUT_MS });
  try {
    const result = await call;
    return `got ${JSON.stringify(result)}`;
  } catch (error) {
    return /timed out/i.test(error.message) ? error.message : undefined;
  } finally {
    await client.close();
  }
}

await Promise.all(Array.from({ length: calls }, (_, i) => report.run(`call ${i}`, () => brokenCall(i))));
report.finish();

// One instance of a legacy-only MCP server (up to 2025-11-25) on the published SDK v1, with
// all that the conformance suite's modern core and tasks-* scenarios call, as far as a legacy
// server can mean it: what a modern tool asks between its rounds, these ask in mid-call, and
// none of them knows tasks.
//
//   node legacy-fixture.js --transport http|sse|stdio --port 7101 --name a
//     [--event-log] [--json] [--questions call|session] [--changes all|session] [--page N] [--greets]
//     [--token TOKEN] [--counts FILE]
//
// --event-log gives the events of Streamable HTTP ids, from which it replays; --json answers
// with JSON; --questions and --changes say on whose streams questions and changes of lists
// go out; --page cuts lists into pages; --greets asks each client for its roots at once;
// --token wants that bearer token, over HTTP.
//
// GET /__stats and /counts tell what this instance has run, so that a test can see that no
// tool ran twice; the file of --counts, or $COUNTS, gets the same, line by line. POST /forget ends all
// sessions without a word to their clients.
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveHttp } from './legacy/http.js';
import { Hub } from './legacy/hub.js';
import { Runs } from './legacy/runs.js';
import { newServer } from './legacy/server.js';

const { values: flags } = parseArgs({
  options: {
    transport: { type: 'string', default: 'http' },
    port: { type: 'string' },
    name: { type: 'string', default: 'legacy-fixture' },
    'event-log': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    questions: { type: 'string', default: 'call' },
    changes: { type: 'string', default: 'all' },
    page: { type: 'string', default: '0' },
    greets: { type: 'boolean', default: false },
    token: { type: 'string' },
    counts: { type: 'string', default: process.env.COUNTS },
  },
});
flags.page = Number(flags.page);

const runs = new Runs(flags.counts);
const hub = new Hub(flags.changes);

if (flags.transport === 'stdio') {
  // Tools that wait for an answer would keep the process for as long.
  process.stdin.on('end', () => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
  await newServer(flags, runs, hub).connect(new StdioServerTransport());
} else {
  serveHttp(flags, runs, hub);
}

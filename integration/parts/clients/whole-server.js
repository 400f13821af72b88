// Uses all that a published server has, step by step, in the modern era (2026-07-28) with the
// published client package: its own driver of rounds answers what is asked in mid-call.
//
//   node whole-server.js --url URL --calls STEPS --tools everything|subscriptions|memory|filesystem|roots [--directory DIR]
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { flags, Report } from './report.js';

const PROTOCOL_VERSION = '2026-07-28';

const { url, tools, directory } = flags();
const report = new Report();
const root = { name: 'given', uri: pathToFileURL(directory ?? '/').href };

let asked = [];
const answered = (kind, answer) => (request) => {
  asked.push(kind);
  return answer(request.params);
};

const HANDLERS = {
  elicitation: ['elicitation/create', () => ({ action: 'accept', content: { name: 'whole-server' } })],
  sampling: [
    'sampling/createMessage',
    ({ messages }) => ({ role: 'assistant', model: 'echo', content: { type: 'text', text: `told: ${messages[0].content.text}` } }),
  ],
  roots: ['roots/list', () => ({ roots: [root] })],
};

/** A client that declares just what it can be asked. */
async function connected(...kinds) {
  const client = new Client(
    { name: 'whole-server', version: '1.0.0' },
    { capabilities: Object.fromEntries(kinds.map((kind) => [kind, {}])), versionNegotiation: { mode: { pin: PROTOCOL_VERSION } } },
  );
  for (const kind of kinds) {
    const [method, answer] = HANDLERS[kind];
    client.setRequestHandler(method, answered(kind, answer));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function withClient(kinds, use) {
  const client = await connected(...kinds);
  asked = [];
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const unless = (right, got) => (right ? undefined : `got ${JSON.stringify(got)}, asked ${asked}`);
const said = ({ content }) => content.map(({ text }) => text).join('\n');

/** A call whose answer has this in it, with these questions on its way. */
const call = (name, args, want, ...kinds) => [
  `${name} ${want}`,
  () =>
    withClient(kinds, async (client) => {
      const result = await client.callTool({ name, arguments: args });
      return unless(said(result).includes(want) && kinds.every((kind) => asked.includes(kind)), result);
    }),
];

const discovered = (name, ...capabilities) => [
  'server/discover',
  () =>
    withClient([], async (client) => {
      const result = await client.discover();
      const has = capabilities.every((capability) => result.capabilities[capability]);
      return unless(has && client.getServerVersion().name === name && result.supportedVersions.includes(PROTOCOL_VERSION), result);
    }),
];

const listed = (...names) => [
  'tools/list',
  () =>
    withClient([], async (client) => {
      const result = await client.listTools();
      return unless(names.every((name) => result.tools.some((tool) => tool.name === name)), result);
    }),
];

async function progress() {
  return withClient([], async (client) => {
    const told = [];
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } };
    const result = await client.callTool(params, { onprogress: ({ progress }) => told.push(progress) });
    return unless(said(result).includes('Steps: 3') && told.join() === '1,2,3', [told, result]);
  });
}

async function resources() {
  return withClient([], async (client) => {
    const [resource] = (await client.listResources()).resources;
    const { contents } = await client.readResource({ uri: resource.uri });
    const { resourceTemplates } = await client.listResourceTemplates();
    const dynamic = await client.readResource({ uri: 'demo://resource/dynamic/text/7' });
    return unless(contents[0].text && resourceTemplates.length > 1 && dynamic.contents[0].text.includes('Resource 7'), [contents, dynamic]);
  });
}

async function missingResource() {
  return withClient([], async (client) => {
    const error = await client.readResource({ uri: 'demo://nowhere' }).then(() => undefined, (reason) => reason);
    return unless(error?.code === -32602, error?.code);
  });
}

async function prompts() {
  return withClient([], async (client) => {
    const listed = await client.listPrompts();
    const { messages } = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Riga' } });
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'S' },
    });
    const whole = listed.prompts.length > 2 && messages[0].content.text.includes('Riga');
    return unless(whole && completed.completion.values.includes('Sales'), [messages, completed]);
  });
}

// The server tells of a resource in the session alone in which that was switched on: calls of a client
// that cannot be asked share one at each instance and berth.
async function listening() {
  return withClient([], async (client) => {
    const uri = 'demo://resource/dynamic/text/1';
    const updated = new Promise((resolve) => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
    });
    const subscription = await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    const { honoredFilter } = subscription;
    // Two berths have a session each: one of these calls is made in that which listens.
    for (let i = 0; i < 2; i++) await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
    const got = await Promise.race([updated, new Promise((resolve) => setTimeout(resolve, 8_000, 'nothing'))]);
    await subscription.close();
    return unless(got === uri && honoredFilter.resourceSubscriptions?.includes(uri), [got, honoredFilter]);
  });
}

// In a session that has asked, or in one that asks anew.
async function rootRead() {
  return withClient(['roots'], async (client) => {
    const result = await client.callTool({ name: 'read_text_file', arguments: { path: `${directory}/greeting.txt` } });
    return unless(said(result).includes('hello'), result);
  });
}

const STEPS = {
  everything: [
    discovered('mcp-servers/everything', 'tools', 'prompts', 'resources', 'completions', 'logging'),
    listed('echo', 'get-sum', 'trigger-long-running-operation'),
    call('echo', { message: 'whole' }, 'Echo: whole'),
    ['progress', progress],
    call('trigger-elicitation-request', {}, '- Name: whole-server', 'elicitation'),
    call('trigger-sampling-request', { prompt: 'haiku' }, 'told: Resource trigger-sampling-request context: haiku', 'sampling'),
    call('get-roots-list', {}, `URI: ${root.uri}`, 'roots'),
    ['resources', resources],
    ['missing resource', missingResource],
    ['prompts', prompts],
  ],
  subscriptions: [['subscriptions/listen', listening]],
  roots: [
    call('list_allowed_directories', {}, directory, 'roots'),
    ['read_text_file', rootRead],
  ],
  memory: [
    discovered('memory-server', 'tools'),
    listed('create_entities', 'read_graph'),
    call('create_entities', { entities: [{ name: 'Riga', entityType: 'city', observations: ['on the Daugava'] }] }, 'Riga'),
    call('add_observations', { observations: [{ entityName: 'Riga', contents: ['has a port'] }] }, 'has a port'),
    call('search_nodes', { query: 'Riga' }, 'on the Daugava'),
    call('delete_entities', { entityNames: ['Riga'] }, 'deleted'),
  ],
  filesystem: [
    discovered('secure-filesystem-server', 'tools'),
    listed('read_text_file', 'write_file'),
    call('read_text_file', { path: `${directory}/greeting.txt` }, 'hello'),
    call('write_file', { path: `${directory}/written.txt`, content: 'whole' }, 'written.txt'),
    call('read_text_file', { path: `${directory}/written.txt` }, 'whole'),
    call('list_directory', { path: directory }, '[FILE] written.txt'),
    call('read_text_file', { path: '/nowhere/else' }, 'denied'),
  ],
};

for (const [label, step] of STEPS[tools]) await report.run(label, step);
report.finish();

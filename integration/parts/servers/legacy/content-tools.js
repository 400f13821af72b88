// The tools of the suite's core scenarios that ask for nothing.
import { setTimeout as pause } from 'node:timers/promises';
import { audio, embedded, image, says, text } from './samples.js';

const STEP_MS = 50;

async function progress({ extra }) {
  const { progressToken } = extra._meta ?? {};
  for (const done of [0, 50, 100]) {
    if (progressToken !== undefined) {
      const params = { progressToken, progress: done, total: 100 };
      await extra.sendNotification({ method: 'notifications/progress', params });
    }
    if (done < 100) await pause(STEP_MS, undefined, { signal: extra.signal });
  }
  return says('three steps done');
}

// Of a client that never said how much it wants to hear, all is logged.
async function logging({ extra, log }) {
  for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await log('info', line);
    await pause(STEP_MS, undefined, { signal: extra.signal });
  }
  return says('logged three lines');
}

async function reconnection({ extra }) {
  extra.closeSSEStream?.();
  await pause(2 * STEP_MS, undefined, { signal: extra.signal });
  return says('came back');
}

const failing = () => ({ ...says('This tool intentionally returns an error for testing'), isError: true });

const mixed = () => ({
  content: [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
});

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const CUSTOM_HEADER = {
  type: 'object',
  properties: { greeting: { type: 'string', 'x-mcp-header': 'Greeting' } },
  required: ['greeting'],
};

export const CONTENT_TOOLS = {
  test_simple_text: { run: () => says('This is a simple text response for testing.') },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: { run: () => ({ content: [audio] }) },
  test_embedded_resource: {
    run: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: { run: mixed },
  test_error_handling: { run: failing },
  test_tool_with_progress: { run: progress },
  test_tool_with_logging: { run: logging },
  test_logging_tool: { run: logging },
  test_reconnection: { run: reconnection },
  json_schema_2020_12_tool: { inputSchema: SCHEMA_2020_12, run: ({ args }) => says(JSON.stringify(args)) },
  test_custom_header: { inputSchema: CUSTOM_HEADER, run: ({ args }) => says(`greeted with ${args.greeting}`) },
};

// The resources of the suite's core scenarios, and one that asks in mid-read.
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { elicit } from './ask.js';
import { PNG } from './samples.js';

const NOT_FOUND = -32002; // up to 2025-11-25

async function asking(call) {
  const { content } = await elicit(call, 'Which part?', { part: { type: 'string' } });
  return { mimeType: 'text/plain', text: `the part ${content?.part}` };
}

const RESOURCES = {
  'test://static-text': () => ({ mimeType: 'text/plain', text: 'This is the content of the static text resource.' }),
  'test://static-binary': () => ({ mimeType: 'image/png', blob: PNG }),
  'test://watched-resource': () => ({ mimeType: 'text/plain', text: 'This one changes.' }),
  'test://asking': asking,
};

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

const templated = (id) => ({
  mimeType: 'application/json',
  text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
});

export const resourceList = Object.keys(RESOURCES).map((uri) => ({ uri, name: uri.slice('test://'.length), description: `the resource ${uri}` }));

export const templateList = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'data by id', mimeType: 'application/json' },
];

export async function readResource(uri, call) {
  const [, id] = TEMPLATE.exec(uri) ?? [];
  const read = id === undefined ? RESOURCES[uri] : () => templated(id);
  if (!read) throw new McpError(NOT_FOUND, 'Resource not found', { uri });
  return { contents: [{ uri, ...(await read(call)) }] };
}

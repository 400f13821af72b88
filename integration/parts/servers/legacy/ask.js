// How a tool, a prompt or a resource asks in mid-call: by a request of the
// server's, whose answer it waits for.
import { CreateMessageResultSchema, ElicitResultSchema, ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { fields, text } from './samples.js';

const ANSWER_WITHIN_MS = 600_000; // unless the call says how patient it is

function ask({ args, extra, counts }, request, answer) {
  counts.stats.questions++;
  return extra.sendRequest(request, answer, { timeout: args.patience ?? ANSWER_WITHIN_MS, signal: extra.signal });
}

/** elicit asks the user to fill in a form. */
export const elicit = (call, message, properties) =>
  ask(call, { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: fields(properties) } }, ElicitResultSchema);

/** visit asks the user to go to a URL. */
export const visit = (call, message, url) =>
  ask(call, { method: 'elicitation/create', params: { mode: 'url', message, url, elicitationId: 'visit-1' } }, ElicitResultSchema);

/** sample asks the client's model. */
export const sample = (call, prompt, maxTokens = 100) =>
  ask(
    call,
    { method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens } },
    CreateMessageResultSchema,
  );

/** roots asks for the client's roots. */
export const roots = (call) => ask(call, { method: 'roots/list', params: {} }, ListRootsResultSchema);

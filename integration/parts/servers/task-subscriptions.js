// subscriptions/listen for task ids. The SDK's own listen router knows list
// and resource changes only, so a request that names taskIds is served here.
import { TASKS_EXTENSION } from './fixture-tools.js';

const META = 'io.modelcontextprotocol/subscriptionId';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export function namesTasks(message) {
  return message?.method === 'subscriptions/listen' && Array.isArray(message.params?.notifications?.taskIds);
}

/** serveTaskSubscription streams the moves of the tasks that this instance holds, until the client leaves. */
export function serveTaskSubscription(table, message, res) {
  if (!message.params._meta?.[CAPABILITIES]?.extensions?.[TASKS_EXTENSION]) {
    refuse(message.id, res);
    return;
  }
  const taskIds = message.params.notifications.taskIds.filter((id) => table.has(id));
  const send = (method, params) => {
    const note = { jsonrpc: '2.0', method, params: { _meta: { [META]: message.id }, ...params } };
    res.write(`event: message\ndata: ${JSON.stringify(note)}\n\n`);
  };
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  send('notifications/subscriptions/acknowledged', { notifications: { taskIds } });
  const onChanged = (task) => {
    if (taskIds.includes(task.taskId)) send('notifications/tasks', task);
  };
  table.on('changed', onChanged);
  res.on('close', () => table.off('changed', onChanged));
}

function refuse(id, res) {
  const error = {
    code: -32021,
    message: 'Missing required client capability',
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  };
  res.writeHead(400, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
}

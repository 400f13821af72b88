// Preloaded (node --import) into published servers that keep no count of
// their own: GET /__stats answers with the POSTs and streams they served.
import { Server } from 'node:http';

const stats = { instance: process.env.INSTANCE, posts: 0, streams: 0 };
const emit = Server.prototype.emit;

Server.prototype.emit = function emitCounted(event, req, res, ...rest) {
  if (event !== 'request') return emit.call(this, event, req, res, ...rest);
  if (req.url === '/__stats') {
    res.setHeader('content-type', 'application/json').end(JSON.stringify(stats));
    return true;
  }
  if (req.method === 'POST') stats.posts++;
  if (req.method === 'GET') stats.streams++;
  return emit.call(this, event, req, res, ...rest);
};

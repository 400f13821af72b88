// Preloaded (node --import) into published servers that listen on all
// interfaces: whatever they ask for, they get 127.0.0.1.
import { Server } from 'node:net';

const listen = Server.prototype.listen;

Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  const callback = rest.find((argument) => typeof argument === 'function');
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, callback);
};

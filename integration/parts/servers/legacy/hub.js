/**
 * Hub is the servers of all sessions of one process: what changes for one changes for all,
 * unless changes is "session".
 */
export class Hub {
  #servers = new Set();
  #watched = new Map(); // URIs by server
  #changes;

  constructor(changes) {
    this.#changes = changes;
  }

  add(server) {
    this.#servers.add(server);
    this.#watched.set(server, new Set());
  }

  remove(server) {
    this.#servers.delete(server);
    this.#watched.delete(server);
  }

  watch(server, uri) {
    this.#watched.get(server)?.add(uri);
  }

  unwatch(server, uri) {
    this.#watched.get(server)?.delete(uri);
  }

  /** changed announces a change of a list, of "tools" or "prompts". */
  async changed(what, by) {
    const told = this.#changes === 'session' ? [by] : [...this.#servers];
    await Promise.all(told.map((server) => server.notification({ method: `notifications/${what}/list_changed` })));
  }

  /** touched announces a change of a resource to whoever subscribed to it. */
  async touched(uri) {
    const told = [...this.#servers].filter((server) => this.#watched.get(server).has(uri));
    await Promise.all(told.map((server) => server.sendResourceUpdated({ uri })));
  }

  /** stats is how many sessions there are, and how many resources they watch. */
  get stats() {
    const watched = [...this.#watched.values()].reduce((sum, uris) => sum + uris.size, 0);
    return { sessions: this.#servers.size, watched };
  }
}

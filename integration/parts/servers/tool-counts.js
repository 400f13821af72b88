/** ToolCounts is what a server's tools have done, by the names that the tests read of all servers. */
export class ToolCounts {
  /** stats is for JSON: tools run to their end, and cut off; questions asked; tools under way; runs that came before with the same arguments. */
  stats = { toolCalls: 0, cutOff: 0, questions: 0, running: 0, repeats: 0 };
  #seen = new Set();

  /** noteRun notes that a tool is run with these arguments. */
  noteRun(name, args) {
    const call = JSON.stringify([name, args ?? {}]);
    if (this.#seen.has(call)) this.stats.repeats++;
    this.#seen.add(call);
  }

  /** count runs a tool; it was cut off if signal says so at its end. */
  async count(tool, signal) {
    this.stats.running++;
    try {
      return await tool();
    } finally {
      this.stats.running--;
      if (signal.aborted) this.stats.cutOff++;
      else this.stats.toolCalls++;
    }
  }
}

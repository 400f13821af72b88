import { appendFileSync } from 'node:fs';
import { ToolCounts } from '../tool-counts.js';

/**
 * Runs is every execution of a tool, by the nonce among its arguments, or by its name where
 * there is none. A file, if there is one, gets a line of JSON for each begin and end, so that
 * they can be read of servers on stdio, and of those that are gone.
 */
export class Runs {
  counts = new ToolCounts();
  begun = {};
  answered = {}; // those that say so
  ended = {};
  cutOff = {};
  #file;

  constructor(file) {
    this.#file = file;
  }

  /** run runs a tool, and counts that it began and how it ended. */
  async run(name, args, signal, tool) {
    const nonce = args.nonce ?? name;
    this.counts.noteRun(name, args);
    this.note('begun', name, nonce);
    try {
      return await this.counts.count(tool, signal);
    } finally {
      this.note(signal.aborted ? 'cutOff' : 'ended', name, nonce);
    }
  }

  /** note notes what befell a run. */
  note(what, tool, nonce) {
    this[what][nonce] = (this[what][nonce] ?? 0) + 1;
    if (!this.#file) return;
    appendFileSync(this.#file, `${JSON.stringify({ what, tool, nonce, pid: process.pid })}\n`);
  }
}

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
  #running = new Set(); // how each run that is under way is ended

  constructor(file) {
    this.#file = file;
    process.on('exit', () => this.#running.forEach((end) => end('cutOff')));
  }

  /** run runs a tool, and counts that it began and how it ended. */
  async run(name, args, signal, tool) {
    const nonce = args.nonce ?? name;
    this.counts.noteRun(name, args);
    this.note('begun', name, nonce);
    const end = (how) => this.note(how, name, nonce);
    this.#running.add(end);
    try {
      return await this.counts.count(tool, signal);
    } finally {
      this.#running.delete(end);
      end(signal.aborted ? 'cutOff' : 'ended');
    }
  }

  /** note notes what befell a run. */
  note(what, tool, nonce) {
    this[what][nonce] = (this[what][nonce] ?? 0) + 1;
    if (!this.#file) return;
    appendFileSync(this.#file, `${JSON.stringify({ what, tool, nonce, pid: process.pid })}\n`);
  }
}

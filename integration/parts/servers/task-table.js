// The tasks of one instance, in its memory and nowhere else: what makes a
// client need the same instance again, and so what a proxy has to respect.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

const TTL_MS = 600_000;
const POLL_INTERVAL_MS = 100;
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/** TaskTable emits 'changed' with a task's detailed view after every move. */
export class TaskTable extends EventEmitter {
  #tasks = new Map();

  constructor() {
    super();
    // One listener for each open subscription stream: any number is normal.
    this.setMaxListeners(0);
  }

  /** create answers with the CreateTaskResult of a new working task. */
  create() {
    const now = new Date().toISOString();
    const task = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now };
    this.#tasks.set(task.taskId, task);
    return { resultType: 'task', ...this.#metadata(task) };
  }

  /** view is the DetailedTask of tasks/get; undefined for an id of another instance. */
  view(taskId) {
    const task = this.#tasks.get(taskId);
    if (!task) return undefined;
    const { result, error, inputRequests } = task;
    return {
      ...this.#metadata(task),
      ...(result && { result }),
      ...(error && { error }),
      ...(inputRequests && { inputRequests }),
    };
  }

  has(taskId) {
    return this.#tasks.has(taskId);
  }

  /** completeAfter ends the task with result unless it was cancelled before. */
  completeAfter(taskId, ms, result) {
    const timer = setTimeout(() => this.complete(taskId, result), ms);
    this.#tasks.get(taskId).stop = () => clearTimeout(timer);
  }

  complete(taskId, result) {
    // The extension's client library takes an inlined result only with its
    // own resultType, though the conformance suite does not ask for it.
    this.#move(taskId, 'completed', { result: { resultType: 'complete', ...result } });
  }

  fail(taskId, error) {
    this.#move(taskId, 'failed', { error });
  }

  cancel(taskId) {
    this.#tasks.get(taskId).stop?.();
    this.#move(taskId, 'cancelled', {});
  }

  /** ask parks the task until every request has an answer; then onAnswers runs. */
  ask(taskId, inputRequests, onAnswers) {
    this.#move(taskId, 'input_required', { inputRequests, answers: {}, onAnswers });
  }

  /** answer takes the answers that were asked for and overlooks the others. */
  answer(taskId, responses) {
    const task = this.#tasks.get(taskId);
    if (task.status !== 'input_required') return;
    const pending = { ...task.inputRequests };
    for (const [key, response] of Object.entries(responses)) {
      if (!(key in pending)) continue;
      task.answers[key] = response;
      delete pending[key];
    }
    if (Object.keys(pending).length > 0) {
      this.#move(taskId, 'input_required', { inputRequests: pending });
      return;
    }
    this.#move(taskId, 'working', { inputRequests: undefined });
    task.onAnswers(task.answers);
  }

  #move(taskId, status, fields) {
    const task = this.#tasks.get(taskId);
    if (TERMINAL.has(task.status)) return;
    if (TERMINAL.has(status)) task.inputRequests = undefined;
    Object.assign(task, fields, { status, lastUpdatedAt: new Date().toISOString() });
    this.emit('changed', this.view(taskId));
  }

  #metadata({ taskId, status, createdAt, lastUpdatedAt }) {
    return { taskId, status, createdAt, lastUpdatedAt, ttlMs: TTL_MS, pollIntervalMs: POLL_INTERVAL_MS };
  }
}

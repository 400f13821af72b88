// What every driver shares: the flags, the count of polls seen on the wire,
// and the one line of JSON that the test reads.
import { parseArgs } from 'node:util';

export function flags() {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      calls: { type: 'string', default: '12' },
      resume: { type: 'string' },
      tools: { type: 'string' },
      library: { type: 'string' },
      directory: { type: 'string' },
    },
  });
  const { url, calls, resume, tools, library, directory } = values;
  return { url, calls: Number(calls), resume, tools, library, directory };
}

/** Report counts calls and polls; a poll is any tasks/* request, lost when its answer is an error or none. */
export class Report {
  #calls = 0;
  #right = 0;
  #polls = [];
  #errors = [];
  #refusable = new Set();

  /** mayRefuse takes errors about a task for answers that are wanted. */
  mayRefuse(taskId) {
    this.#refusable.add(taskId);
  }

  /** fetch stands in for the global one, so that it sees the polls of any client library. */
  fetch = async (url, init) => {
    const message = requestIn(init?.body);
    if (!message?.method?.startsWith('tasks/')) return fetch(url, init);
    const poll = { ...message, signal: init.signal, answer: '' };
    this.#polls.push(poll);
    const response = await fetch(url, init);
    return overheard(response, poll);
  };

  /** run makes one call and takes an exception, or an answer that is not what the call wants, as wrong. */
  async run(label, call) {
    this.#calls++;
    try {
      const complaint = await call();
      if (complaint === undefined) this.#right++;
      else this.#errors.push(`${label}: ${complaint}`);
    } catch (error) {
      this.#errors.push(`${label}: ${reasons(error)}`);
    }
  }

  /** finish prints the line and ends the process, whatever the clients still hold open. */
  finish() {
    const lost = this.#polls
      .filter(({ taskId, answer }) => !answer || !this.#refusable.has(taskId))
      .map(complaintAbout)
      .filter(Boolean);
    const summary = {
      calls: this.#calls,
      right: this.#right,
      polls: this.#polls.length,
      lostPolls: lost.length,
      errors: [...this.#errors, ...lost].slice(0, 20),
    };
    const ok = summary.right === summary.calls && summary.lostPolls === 0;
    process.stdout.write(`${JSON.stringify(summary)}\n`, () => process.exit(ok ? 0 : 1));
  }
}

// What failed, and what made it fail, down to the root.
function reasons(error) {
  return error.cause ? `${error.message}: ${reasons(error.cause)}` : error.message;
}

function requestIn(body) {
  if (typeof body !== 'string') return undefined;
  const { id, method, params } = JSON.parse(body);
  return { id, method, taskId: params?.taskId };
}

// The answer passes on as it comes: tasks/result streams what the client has
// to answer before it ends, and a client may leave a stream once it has read
// what it waited for.
function overheard(response, poll) {
  if (!response.body) return response;
  const decoder = new TextDecoder();
  const tap = new TransformStream({
    transform(chunk, controller) {
      poll.answer += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
  });
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(tap), { status, headers });
}

/** messagesIn are the JSON-RPC messages of an answer: one of JSON, or those of an event stream. */
export function messagesIn(answer) {
  if (answer.startsWith('{')) return [JSON.parse(answer)];
  return answer
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

// A poll that the client itself withdrew, as it does once it cancelled the
// task, is not lost: nobody waits for its answer.
function complaintAbout({ id, method, signal, answer }) {
  const response = answerTo(id, answer);
  if (!response) return signal?.aborted ? undefined : `${method}: no answer`;
  const { error } = response;
  return error && `${method}: ${error.code} ${error.message}`;
}

function answerTo(id, answer) {
  try {
    return messagesIn(answer).find((message) => message.id === id && message.method === undefined);
  } catch {
    return undefined; // cut off in the middle
  }
}

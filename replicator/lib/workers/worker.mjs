// A process that applies, seen from the one that reads: what it is asked to do is done in that order, changes above all.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ConnectionLostError, SinkError, UsageError } from '../errors.mjs';
import { SLOTS, Spool } from './spool.mjs';

const PROGRAM = fileURLToPath(new URL('applier-process.mjs', import.meta.url));
const SPOOL_FD = 4;

/** The errors that a sink throws; it is no longer one change that is refused, as what came before it is stored. */
const ERRORS = { SinkError, RefusedError: SinkError, ConnectionLostError, UsageError };

/**
 * @typedef {object} WorkerEvents
 * @property {(message: string) => void} onWarning
 * @property {(change: Pick<import('../changes.mjs').Change, 'kind' | 'namespace'>, reason: string) => void} onRefused a change
 *   was left out, and is in the skip log
 * @property {(tally: Map<string, import('../report.mjs').CollectionCount>) => void} onStored
 * @property {(error: Error) => void} onFailure it can apply no more
 */

export class Worker {
  /** Milliseconds spent in its sink. */
  storingTime = 0;
  /** When it was last told how far the source has been read. */
  lastTold = performance.now();
  #title;
  #child;
  #spool = new Spool();
  #events;
  #exited;
  #isClosing = false;
  /** Why the process is gone, once it is. */
  #loss = null;
  /** What it was asked and has not answered, by number. */
  #open = new Map();
  #asked = 0;
  /** Messages on their way, the oldest first. */
  #onTheWay = [];
  #sent = 0;

  /**
   * @param {string} title names it in messages
   * @param {object} options for the other process: see applier-process.mjs
   * @param {WorkerEvents} events
   */
  constructor(title, options, events) {
    this.#title = title;
    this.#events = events;
    this.#child = fork(PROGRAM, [], {
      // Not what this process was started with, such as an inspector's port.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', this.#spool.fd],
      env: { ...process.env, BSONROW_SPOOL_FD: String(SPOOL_FD) },
    });
    this.#child.on('message', (message) => this.#receive(message));
    this.#child.on('error', (error) => this.#lose(error.message));
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      if (!this.#isClosing) this.#lose(signal ?? `exit code ${code}`);
    });
    this.opened = this.ask('open', options);
    // Looked at by the one who opens all; until then a failure must not count as one that nobody looks at.
    this.opened.catch(() => {});
  }

  /**
   * @param {string} work what the other process is to do: see applier-process.mjs
   * @param {any} [argument]
   * @returns {Promise<any>} what that gives
   */
  ask(work, argument) {
    if (this.#loss !== null) return Promise.reject(this.#loss);
    this.#asked += 1;
    const number = this.#asked;
    return new Promise((resolve, reject) => {
      this.#open.set(number, { resolve, reject });
      this.#send({ number, work, argument });
    });
  }

  /**
   * Hands changes over, once there is room for them.
   * @param {Uint8Array[]} message the changes, encoded
   * @param {import('../sink/sink.mjs').Progress | null} progress that covers them
   * @param {{ progress: () => import('../sink/sink.mjs').Progress | null }[]} reached with each change
   */
  async hand(message, progress, reached) {
    if (this.#onTheWay.length >= SLOTS) await this.#onTheWay[0].stored;
    const slot = this.#sent % SLOTS;
    this.#sent += 1;
    this.lastTold = performance.now();
    const length = this.#spool.write(slot, message);
    const sending = { number: this.#asked + 1, reached };
    this.#onTheWay.push(sending);
    sending.stored = this.ask('apply', { slot, length, progress }).then((storingTime) => {
      this.storingTime = storingTime;
      this.#onTheWay.shift();
    });
    // What it failed with is kept, and comes up with the next message or at the end.
    sending.stored.catch(() => {});
  }

  /** Until all that was handed over is stored. */
  async settled() {
    await this.#onTheWay.at(-1)?.stored;
  }

  interrupt() {
    this.#send({ isInterrupted: true });
  }

  /** When what it was asked before is done. */
  async close() {
    await this.ask('close').catch(() => {});
    this.#isClosing = true;
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
    this.#spool.close();
  }

  #send(message) {
    // That the other process is gone comes as an event of its own.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive({ number, value, error, warning, refused, stored, question }) {
    if (warning !== undefined) this.#events.onWarning(warning);
    else if (refused !== undefined) this.#events.onRefused(refused.change, refused.reason);
    else if (stored !== undefined) this.#events.onStored(stored);
    else if (question !== undefined) this.#answer(question);
    else if (error === undefined) this.#close(number).resolve(value);
    else this.#fail(number, error);
  }

  #close(number) {
    const asked = this.#open.get(number);
    this.#open.delete(number);
    return asked;
  }

  /** How far the source has been read with a change, which is asked only where that is the last to be stored. */
  #answer({ number, index }) {
    const { reached } = this.#onTheWay.find((sending) => sending.number === number);
    this.#send({ answer: reached[index].progress() });
  }

  #fail(number, { name, message, stack }) {
    const error = name in ERRORS ? new ERRORS[name](message) : Object.assign(new Error(message), { stack });
    error.isSkippable = name === 'RefusedError';
    this.#close(number).reject(error);
    this.#events.onFailure(error);
  }

  /** The process is gone, and what it was asked will not be answered. */
  #lose(how) {
    const error = new SinkError(
      `the process that applies (${this.#title}) was ended by ${how}: start again, and the run goes on from what is stored`,
    );
    this.#loss ??= error;
    for (const { reject } of this.#open.values()) reject(this.#loss);
    this.#open.clear();
    this.#events.onFailure(this.#loss);
  }
}

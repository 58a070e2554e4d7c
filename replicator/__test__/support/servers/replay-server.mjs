// A server of scripted data that speaks to the official driver: collections for snapshots, events for change
// streams, and faults where a test wants them. It selects nothing: pipelines and filters are recorded, and only the
// place where a reading begins is understood.
import { createServer } from 'node:net';
import { deserialize, Long, serialize, Timestamp } from 'bson';
import { encodeReply, MessageReader, rawArray, rawDocument, rawElement } from './wire.mjs';

const MAX_REPLY = 16 * 1024 * 1024;
const POLL_MS = 5;

export class ReplayServer {
  /** Commands received but for hellos, in order. */
  commands = [];
  #server;
  #sockets = new Set();
  #collections;
  #events;
  #faults = [];
  #cursors = new Map();
  #lastCursor = 1000n;
  #version;

  /**
   * @param {object} script
   * @param {Record<string, Buffer[]>} [script.collections] by namespace, in the order of their `_id`s
   * @param {Buffer[]} [script.events] what the change stream gives
   * @param {number[]} [script.version]
   */
  constructor({ collections = {}, events = [], version = [8, 0, 4] } = {}) {
    this.#collections = new Map(Object.entries(collections));
    this.#events = events;
    this.#version = version;
  }

  /** @returns {Promise<string>} the address */
  async start() {
    this.#server = createServer((socket) => this.#serve(socket));
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `mongodb://127.0.0.1:${this.#server.address().port}`;
  }

  async stop() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  setCollection(namespace, documents) {
    this.#collections.set(namespace, documents);
  }

  /** What the change stream gives. */
  get events() {
    return this.#events;
  }

  addEvents(...events) {
    this.#events.push(...events);
  }

  /**
   * @param {string} name of the command
   * @param {object} fault see faults.mjs
   * @param {{ after?: number, times?: number }} [when] after so many of these commands, and how often
   */
  fail(name, fault, { after = 0, times = 1 } = {}) {
    this.#faults.push({ name, fault, after, times });
  }

  /** No more faults. */
  mend() {
    this.#faults = [];
  }

  /** Those commands of a name. */
  received(name) {
    return this.commands.filter((command) => name in command);
  }

  /** Cursors that nobody has read to the end or killed. */
  get openCursors() {
    return this.#cursors.size;
  }

  #serve(socket) {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    const reader = new MessageReader();
    socket.on('data', async (chunk) => {
      for (const request of reader.push(chunk)) {
        await this.#answer(socket, request).catch((error) => this.#failed(socket, error));
      }
    });
  }

  async #answer(socket, request) {
    const [name] = Object.keys(request.command);
    const isHello = /^(hello|ismaster)$/i.test(name);
    if (!isHello) this.commands.push(request.command);
    const fault = isHello ? undefined : this.#takeFault(name);
    if (fault?.isSilent) return;
    fault?.happen?.();
    const document =
      fault?.document === undefined ? await this.#reply(name, request.command) : bsonOf(fault.document);
    const message = encodeReply(
      request,
      fault?.change === undefined ? document : [fault.change(Buffer.concat(document))],
    );
    if (fault?.cutAfter === undefined) {
      if (!socket.destroyed) socket.write(message);
    } else {
      socket.end(message.subarray(0, fault.cutAfter));
    }
  }

  /** A fault of this server, which must not look like one that a test wanted. */
  #failed(socket, error) {
    console.error('replay server:', error);
    socket.destroy();
  }

  #takeFault(name) {
    const found = this.#faults.find((one) => one.name === name && one.times > 0);
    if (found === undefined) return undefined;
    if (found.after > 0) {
      found.after -= 1;
      return undefined;
    }
    found.times -= 1;
    return found.fault;
  }

  async #reply(name, command) {
    switch (name) {
      case 'hello':
      case 'ismaster':
      case 'isMaster':
        return bsonOf({ ...this.#hello(), ok: 1 });
      case 'buildInfo':
        return bsonOf({ versionArray: this.#version, version: this.#version.join('.'), ok: 1 });
      case 'listCollections':
        return bsonOf(this.#listCollections(command.$db));
      case 'aggregate':
        return await this.#openStream(command);
      case 'find':
        return this.#openSnapshot(command);
      case 'getMore':
        return await this.#more(command);
      case 'killCursors':
        return bsonOf(this.#killCursors(command));
      case 'endSessions':
        return bsonOf(this.#endSessions(command));
      default:
        return bsonOf({ ok: 1, ...this.#times() });
    }
  }

  #hello() {
    const me = `127.0.0.1:${this.#server.address()?.port}`;
    return {
      helloOk: true,
      ismaster: true,
      isWritablePrimary: true,
      setName: 'replay',
      setVersion: 1,
      hosts: [me],
      primary: me,
      me,
      maxBsonObjectSize: MAX_REPLY,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      logicalSessionTimeoutMinutes: 30,
      minWireVersion: 0,
      maxWireVersion: 25,
      readOnly: false,
    };
  }

  /** The time is that of the last event. */
  #times() {
    const last = this.#events.at(-1);
    const time = last === undefined ? undefined : timeOf(last);
    return { operationTime: time ?? new Timestamp({ t: 1, i: 1 }) };
  }

  #listCollections(database) {
    const firstBatch = [...this.#collections.keys()]
      .filter((namespace) => namespace.startsWith(`${database}.`))
      .map((namespace) => ({ name: namespace.slice(database.length + 1), type: 'collection' }));
    return { cursor: { id: Long.ZERO, ns: `${database}.$cmd.listCollections`, firstBatch }, ok: 1 };
  }

  #openSnapshot({ find, filter, batchSize, $db, lsid }) {
    const namespace = `${$db}.${find}`;
    const documents = this.#collections.get(namespace) ?? [];
    const last = filter.$expr?.$gt[1].$literal;
    const at = last === undefined ? 0 : documents.findIndex((document) => isIdOf(document, last)) + 1;
    return this.#batch(this.#newCursor({ namespace, documents, at, lsid }), 'firstBatch', Number(batchSize));
  }

  async #openStream({ aggregate, pipeline, cursor: { batchSize }, $db, lsid }) {
    const [{ $changeStream: stage }] = pipeline;
    const namespace = `${$db}.${typeof aggregate === 'string' ? aggregate : '$cmd.aggregate'}`;
    const at = this.#startOf(stage);
    if (at === null)
      return bsonOf({ ok: 0, code: 260, codeName: 'InvalidResumeToken', errmsg: 'invalidate token' });
    const cursor = this.#newCursor({ namespace, documents: this.#events, at, lsid, isStream: true });
    return this.#batch(cursor, 'firstBatch', Number(batchSize));
  }

  /** Where the stream begins; `null` behind an event that it cannot be resumed after. */
  #startOf({ resumeAfter, startAfter, startAtOperationTime: time }) {
    const token = (resumeAfter ?? startAfter)?._data;
    if (token?.startsWith('end:')) return Number(token.slice(4));
    if (token !== undefined) {
      const found = this.#events.findIndex((event) => tokenOf(event) === token);
      return resumeAfter !== undefined && isInvalidate(this.#events[found]) ? null : found + 1;
    }
    if (time === undefined) return this.#events.length;
    // Events that were made without a time are later than any.
    const isLater = (event) => timeOf(event)?.lessThan(time) !== true;
    const at = this.#events.findIndex(isLater);
    return at < 0 ? this.#events.length : at;
  }

  #newCursor(cursor) {
    this.#lastCursor += 1n;
    this.#cursors.set(this.#lastCursor, cursor);
    return this.#lastCursor;
  }

  async #more({ getMore, batchSize, maxTimeMS }) {
    const id = getMore.toBigInt();
    const deadline = performance.now() + Number(maxTimeMS ?? 0);
    while (this.#isWaiting(this.#cursors.get(id)) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    // It may have been killed meanwhile.
    if (this.#cursors.has(id)) return this.#batch(id, 'nextBatch', Number(batchSize));
    return bsonOf({ ok: 0, code: 43, codeName: 'CursorNotFound', errmsg: `cursor id ${id} not found` });
  }

  #isWaiting(cursor) {
    return cursor?.isStream === true && cursor.at >= cursor.documents.length;
  }

  /** As many documents as are wanted and fit; at least one. */
  #batch(id, name, batchSize) {
    const cursor = this.#cursors.get(id);
    const batch = [];
    for (let size = 0; batch.length < batchSize && cursor.at < cursor.documents.length; cursor.at += 1) {
      const document = cursor.documents[cursor.at];
      size += document.length;
      if (size > MAX_REPLY && batch.length > 0) break;
      batch.push(document);
      if (cursor.isStream && isInvalidate(document)) {
        cursor.at += 1;
        break;
      }
    }
    const isOver = cursor.isStream
      ? batch.length > 0 && isInvalidate(batch.at(-1))
      : cursor.at >= cursor.documents.length;
    if (isOver) this.#cursors.delete(id);
    const fields = { id: Long.fromBigInt(isOver ? 0n : id), ns: cursor.namespace };
    if (cursor.isStream) fields.postBatchResumeToken = tokenBehind(cursor);
    const reply = rawDocument(rawArray(name, batch), fields);
    return rawDocument(rawElement('cursor', reply), { ok: 1, ...this.#times() });
  }

  #killCursors({ cursors }) {
    for (const id of cursors) this.#cursors.delete(id.toBigInt());
    return { cursorsKilled: cursors, ok: 1 };
  }

  /** The cursors of a session end with it. */
  #endSessions({ endSessions }) {
    const ended = new Set(endSessions.map(({ id }) => id.toString('hex')));
    for (const [id, { lsid }] of this.#cursors) {
      if (ended.has(lsid.id.toString('hex'))) this.#cursors.delete(id);
    }
    return { ok: 1 };
  }
}

/** A reply's pieces: one, where it is made of an object. */
const bsonOf = (document) => [Buffer.from(serialize(document))];

/** Its own fields; its documents, which may be damaged, stay BSON. None where it is damaged itself. */
function fieldsOf(event) {
  try {
    return deserialize(event, { raw: true, promoteValues: false });
  } catch {
    return {};
  }
}

/** Most events are passed by without being read. */
const isInvalidate = (event) =>
  event.includes('invalidate\0') && fieldsOf(event).operationType === 'invalidate';

const timeOf = (event) => fieldsOf(event).clusterTime;

function tokenOf(event) {
  const { _id } = fieldsOf(event);
  return _id === undefined ? undefined : deserialize(_id)._data;
}

/** Behind the last event given, and like a server's high-water mark a token of its own where there is none. */
function tokenBehind({ documents, at }) {
  const token = at > 0 && at < documents.length ? tokenOf(documents[at - 1]) : undefined;
  return { _data: token ?? `end:${at}` };
}

/** Whether the document has this `_id`, compared as BSON. */
function isIdOf(document, id) {
  const { _id } = fieldsOf(document);
  const own = _id instanceof Uint8Array ? deserialize(_id, { promoteValues: false }) : _id;
  return Buffer.from(serialize({ id: own })).equals(serialize({ id }));
}

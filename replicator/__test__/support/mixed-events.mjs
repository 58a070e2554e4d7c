// A capture of mixed operations, made from a seed, in which the order counts: rows come, change and go, values change
// their class, collections are dropped and renamed over each other.
import { Double, Int32, Long, ObjectId, serialize, Timestamp } from 'bson';

/** A generator of numbers from 0 to 1: mulberry32. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const COLLECTIONS = ['orders', 'Orders', 'items', 'log'];
const KEYS = 400;

/** @returns {Buffer[]} change events */
export function makeMixedEvents(seed, count) {
  const random = makeRandom(seed);
  const whole = (below) => Math.floor(random() * below);
  const pick = (list) => list[whole(list.length)];
  const ns = () => ({ db: 'shop', coll: pick(COLLECTIONS) });
  const id = () => {
    const number = whole(KEYS);
    if (number % 3 === 0) return new ObjectId(number.toString(16).padStart(24, '0'));
    return number % 3 === 1 ? { day: number, of: { shop: 'Oslo' } } : `key ${number}`;
  };
  const value = () =>
    pick([
      () => new Int32(whole(1000)),
      () => new Double(random()),
      () => Long.fromBigInt(2n ** 62n + BigInt(whole(1000))),
      () => 'text '.repeat(1 + whole(30)),
      // Longer than what crosses to another process as a string.
      () => 'long text '.repeat(200 + whole(30)),
      () => Buffer.alloc(whole(40), 7),
      () => new Timestamp({ t: 2 ** 31 + whole(1000), i: 1 }),
      () => ({ nested: [whole(10), { deep: 'é "quoted"' }] }),
      () => null,
    ])();

  const events = [];
  for (let i = 0; i < count; i += 1) {
    const kind = random();
    const fields = { _id: { _data: `${seed}-${i}` }, operationType: 'delete', ns: ns() };
    if (kind < 0.004) {
      fields.operationType = 'drop';
    } else if (kind < 0.012) {
      fields.operationType = 'rename';
      fields.to = ns();
      if (fields.to.coll === fields.ns.coll) fields.operationType = 'create';
    } else {
      fields.documentKey = { _id: id() };
      if (kind < 0.85) {
        fields.operationType = pick(['insert', 'insert', 'insert', 'update', 'replace']);
        fields.fullDocument = { _id: fields.documentKey._id, step: i };
        for (let n = whole(6); n > 0; n -= 1) fields.fullDocument[pick(['a', 'A', 'b', 'c', 'd'])] = value();
      }
    }
    events.push(Buffer.from(serialize(fields)));
  }
  return events;
}

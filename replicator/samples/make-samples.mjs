// Writes samples/shop.events.bson.gz: the change events of a small shop over some days. The same bytes every
// time: all that is random comes from one seeded generator, all times from one clock.
//
//   node samples/make-samples.mjs
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Binary, Decimal128, Double, Int32, Long, ObjectId, serialize, Timestamp, UUID } from 'bson';

const SEED = 20240529;
const START = Date.UTC(2024, 4, 29, 8, 0, 0);
const OPERATIONS = 2400;

const PEOPLE = [
  { name: 'Анна Соколова', city: 'Казань', country: 'RU', language: 'ru' },
  { name: '王小明', city: '上海', country: 'CN', language: 'zh' },
  { name: '佐藤 花子', city: '札幌市', country: 'JP', language: 'ja' },
  { name: 'José Núñez', city: 'Málaga', country: 'ES', language: 'es' },
  { name: 'Zoë Müller-Lüdenscheidt', city: 'Köln', country: 'DE', language: 'de' },
  { name: 'Ελένη Παπαδοπούλου', city: 'Θεσσαλονίκη', country: 'GR', language: 'el' },
  { name: 'محمد الفاسي', city: 'فاس', country: 'MA', language: 'ar' },
  { name: 'Łukasz Żółć', city: 'Łódź', country: 'PL', language: 'pl' },
  { name: 'Siobhán O’Brien', city: 'Gaillimh', country: 'IE', language: 'ga' },
  { name: 'अदिति शर्मा', city: 'जयपुर', country: 'IN', language: 'hi' },
  { name: 'Grace Hopper', city: 'Arlington', country: 'US', language: 'en' },
];
const GOODS = [
  { en: 'Tea cup', de: 'Teetasse', ja: '湯のみ', zh: '茶杯' },
  { en: 'Rain coat', de: 'Regenmantel', fr: 'imperméable', ru: 'Плащ' },
  { en: 'Notebook "dotted"', de: 'Notizbuch', ko: '공책', el: 'Τετράδιο' },
  { en: 'Bicycle bell 🔔', nl: 'Fietsbel', pl: 'Dzwonek', ar: 'جرس' },
  { en: 'Chess set ♟️', es: 'Ajedrez', hi: 'शतरंज', uk: 'Шахи' },
];
const NOTES = [
  '',
  'Please ring twice 🔔🔔',
  'Подарок, без чека 🎁',
  '易碎品，请小心',
  'line one\nline two\t"quoted" \\',
  '👩‍👩‍👧‍👦 c/o Nachbar',
];
const STATES = ['placed', 'paid', 'packed', 'sent', 'delivered'];
const COLOURS = ['red', 'grün', 'синий', '黒'];

/** mulberry32: 32 bits of state, numbers in [0, 1). */
function makeRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Shop {
  #random = makeRandom(SEED);
  #time = START;
  #ids = 0;
  #order = 0;
  /** Collection → documents, as they stand after the events so far. */
  #documents = new Map();
  /** @type {Buffer[]} */
  events = [];

  /** @returns {Buffer} the events one after another */
  write() {
    this.#emit('create', 'customers', {
      operationDescription: { idIndex: { v: new Int32(2), key: { _id: new Int32(1) } } },
    });
    this.#emit('createIndexes', 'customers', {
      operationDescription: { indexes: [{ v: new Int32(2), key: { email: new Int32(1) }, name: 'email_1' }] },
    });
    for (let i = 0; i < 60; i += 1) this.#insert('customers', this.#customer());
    for (let i = 0; i < 60; i += 1) this.#insert('products', this.#product(i));
    for (const setting of this.#settings()) this.#insert('settings', setting);
    for (let i = 0; i < OPERATIONS / 2; i += 1) this.#step();
    this.#oneOfEach();
    for (let i = 0; i < OPERATIONS / 2; i += 1) this.#step();
    this.#emit('drop', 'carts', {});
    this.#documents.delete('carts');
    return Buffer.concat(this.events);
  }

  #step() {
    const choice = this.#random();
    if (choice < 0.34) this.#insert('orders', this.#orderDocument());
    else if (choice < 0.44)
      this.#insert('carts', { _id: this.#uuid(), items: this.#items(2), at: this.#now() });
    else if (choice < 0.5) this.#insert('drafts', this.#review());
    else if (choice < 0.74) this.#advanceOrder();
    else if (choice < 0.84) this.#restock();
    else if (choice < 0.88) this.#replaceCustomer();
    else if (choice < 0.94) this.#delete('carts');
    else if (choice < 0.98) this.#delete('orders');
    else this.#delete('drafts');
  }

  /** What happens once: events that are not about one row, and updates without their document. */
  #oneOfEach() {
    this.#emit('rename', 'drafts', { to: { db: 'shop', coll: 'reviews' } });
    this.#documents.set('reviews', this.#documents.get('drafts'));
    this.#documents.delete('drafts');

    const [stale] = this.#documents.get('orders');
    this.#emit('update', 'orders', {
      documentKey: { _id: stale._id },
      updateDescription: delta({ 'items.0.quantity': new Int32(9) }),
    });

    const gone = this.#documents.get('orders').pop();
    this.#emit('update', 'orders', {
      documentKey: { _id: gone._id },
      fullDocument: null,
      updateDescription: delta({ status: 'cancelled' }),
    });
    this.#emit('delete', 'orders', { documentKey: { _id: gone._id } });
    this.#emit('futureOperation', 'orders', { operationDescription: { anything: [new Int32(1), null] } });
  }

  #insert(collection, document) {
    if (!this.#documents.has(collection)) this.#documents.set(collection, []);
    this.#documents.get(collection).push(document);
    this.#emit('insert', collection, { documentKey: { _id: document._id }, fullDocument: document });
  }

  #delete(collection) {
    const documents = this.#documents.get(collection);
    if (documents === undefined || documents.length === 0) return;
    const [document] = documents.splice(this.#below(documents.length), 1);
    this.#emit('delete', collection, { documentKey: { _id: document._id } });
  }

  #update(collection, document, changes) {
    Object.assign(document, changes);
    this.#emit('update', collection, {
      documentKey: { _id: document._id },
      fullDocument: document,
      updateDescription: delta(changes),
    });
  }

  #advanceOrder() {
    const order = this.#pick(this.#documents.get('orders'));
    if (order === undefined) return;
    const status = STATES[Math.min(STATES.indexOf(order.status) + 1, STATES.length - 1)];
    this.#update('orders', order, { status, history: [...order.history, { status, at: this.#now() }] });
  }

  #restock() {
    const product = this.#pick(this.#documents.get('products'));
    this.#update('products', product, { stock: new Int32(this.#below(500)), updatedAt: this.#now() });
  }

  #replaceCustomer() {
    const customers = this.#documents.get('customers');
    const index = this.#below(customers.length);
    const { _id } = customers[index];
    customers[index] = { ...this.#customer(), _id };
    this.#emit('replace', 'customers', { documentKey: { _id }, fullDocument: customers[index] });
  }

  #customer() {
    const person = this.#pick(PEOPLE);
    const number = this.#ids;
    return {
      _id: this.#objectId(),
      name: person.name,
      email: `customer${number}@example.org`,
      language: person.language,
      address: {
        city: person.city,
        country: person.country,
        lines: [`${1 + this.#below(90)} Main St`],
        geo: this.#geo(),
      },
      points: Long.fromBigInt(9007199254740993n + BigInt(this.#below(1000))),
      balance: Decimal128.fromString((this.#below(100000) / 100).toFixed(2)),
      newsletter: this.#random() < 0.5,
      since: new Date(START - this.#below(10 * 365) * 86_400_000),
      device: this.#uuid(),
      ...(this.#random() < 0.3 ? { nickname: null } : {}),
    };
  }

  #product(number) {
    return {
      _id: `SKU-${String(number).padStart(4, '0')}`,
      title: this.#pick(GOODS),
      price: Decimal128.fromString((1 + this.#below(20000) / 100).toFixed(2)),
      stock: new Int32(this.#below(500)),
      weight: new Double(this.#below(5000) / 1000),
      barcode: Long.fromBigInt(4006381333931n + BigInt(number)),
      colours: COLOURS.slice(0, 1 + this.#below(COLOURS.length)),
      thumbnail: new Binary(this.#bytes(16), 0),
      updatedAt: this.#now(),
    };
  }

  #orderDocument() {
    this.#order += 1;
    const items = this.#items(4);
    const total = items.reduce((sum, { quantity, price }) => sum + quantity.value * Number(price), 0);
    return {
      _id: this.#objectId(),
      number: Long.fromNumber(700_000 + this.#order),
      customer: this.#pick(this.#documents.get('customers'))._id,
      status: STATES[0],
      items,
      total: Decimal128.fromString(total.toFixed(2)),
      discount: this.#pick([new Double(0), new Double(0.05), new Double(0.125)]),
      note: this.#pick(NOTES),
      history: [{ status: STATES[0], at: this.#now() }],
      placedAt: this.#now(),
    };
  }

  #review() {
    return {
      _id: {
        product: this.#pick(this.#documents.get('products'))._id,
        nr: new Int32(this.#below(1_000_000)),
      },
      stars: new Int32(1 + this.#below(5)),
      text: this.#pick(NOTES),
      author: this.#pick(PEOPLE).name,
    };
  }

  /** Identities that look alike and are not. */
  #settings() {
    const id = this.#objectId();
    return [
      { _id: new Int32(1), meaning: 'the number' },
      { _id: '1', meaning: 'the string' },
      { _id: id, meaning: 'the ObjectId' },
      { _id: id.toHexString(), meaning: 'the string of its digits' },
      { _id: new Date(START), meaning: 'a date', Meaning: 'a name that differs in case' },
      {
        _id: Decimal128.fromString('1.10'),
        meaning: 'a decimal',
        ratio: new Double(1e300),
        missing: new Double(Number.NaN),
      },
    ];
  }

  #items(most) {
    return Array.from({ length: 1 + this.#below(most) }, () => {
      const product = this.#pick(this.#documents.get('products'));
      return {
        sku: product._id,
        title: product.title.en,
        quantity: new Int32(1 + this.#below(5)),
        price: product.price,
        options: { colour: this.#pick(product.colours), gift: this.#random() < 0.2 },
      };
    });
  }

  #geo() {
    return {
      type: 'Point',
      coordinates: [new Double(this.#below(36000) / 100 - 180), new Double(this.#below(18000) / 100 - 90)],
    };
  }

  #emit(operationType, coll, fields) {
    const at = this.#now();
    const seconds = Math.floor(at.getTime() / 1000);
    const event = {
      _id: { _data: `82${seconds.toString(16).toUpperCase()}${String(this.events.length).padStart(8, '0')}` },
      operationType,
      clusterTime: Timestamp.fromBits(1, seconds),
      wallTime: at,
      ns: { db: 'shop', coll },
      ...fields,
    };
    this.events.push(Buffer.from(serialize(event)));
  }

  #now() {
    this.#time += 1 + this.#below(20_000);
    return new Date(this.#time);
  }

  #objectId() {
    this.#ids += 1;
    const seconds = Math.floor(this.#time / 1000).toString(16);
    return new ObjectId(`${seconds}5f3c9a71e2${this.#ids.toString(16).padStart(6, '0')}`);
  }

  #uuid() {
    const bytes = this.#bytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return new UUID(bytes);
  }

  #bytes(count) {
    return Buffer.from(Array.from({ length: count }, () => this.#below(256)));
  }

  #below(limit) {
    return Math.floor(this.#random() * limit);
  }

  #pick(list) {
    return list?.[this.#below(list.length)];
  }
}

function delta(updatedFields) {
  return { updatedFields, removedFields: [], truncatedArrays: [] };
}

/** The bytes of the capture before gzip. */
export function makeCapture() {
  return new Shop().write();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const capture = makeCapture();
  const file = new URL('shop.events.bson.gz', import.meta.url);
  writeFileSync(file, gzipSync(capture, { level: 9 }));
  process.stdout.write(`${fileURLToPath(file)}: ${capture.length} bytes of events\n`);
}

// Batches and runs: what is stored together, and when.
import { describe, expect, test, vi } from 'vitest';
import { Applier, DEFAULT_LIMITS } from '../lib/apply.mjs';
import { RefusedError } from '../lib/errors.mjs';
import { toRuns } from '../lib/runs.mjs';

const change = (operation, namespace, number) => ({
  kind: operation === 'delete' ? 'remove' : 'put',
  operation,
  namespace,
  key: Buffer.of(number),
  row: { n: BigInt(number) },
});

/** Runs as text: what they hold, in order. */
const describeRuns = (changes) =>
  toRuns(changes).map((step) =>
    step.kind === 'single'
      ? step.change.kind
      : `${step.namespace} ${step.kind} ${step.changes.map(({ key }) => key[0]).join(',')}`,
  );

describe('runs', () => {
  test('inserts of a collection are one run until an update or delete touches the collection', () => {
    expect(
      describeRuns([
        change('insert', 'a.x', 1),
        change('insert', 'a.y', 2),
        change('insert', 'a.x', 3),
        change('update', 'a.y', 2),
        change('insert', 'a.x', 4),
        change('insert', 'a.y', 5),
        change('delete', 'a.x', 1),
        change('insert', 'a.x', 6),
      ]),
    ).toEqual([
      'a.x insert 1,3,4',
      'a.y insert 2',
      'a.y update 2',
      'a.y insert 5',
      'a.x remove 1',
      'a.x insert 6',
    ]);
  });

  test('updates and replacements are runs, too, and so are deletes; of one key the last counts', () => {
    const last = { ...change('replace', 'a.x', 1), row: { n: 9n } };
    const changes = [change('update', 'a.x', 1), change('update', 'a.x', 2), last];
    const [run] = toRuns(changes);
    expect(run.changes).toEqual([last, changes[1]]);
    expect(describeRuns([...changes, change('delete', 'a.x', 1), change('delete', 'a.x', 2)])).toEqual([
      'a.x update 1,2',
      'a.x remove 1,2',
    ]);
  });

  test('what concerns a whole collection ends all runs', () => {
    const drop = { kind: 'drop', operation: 'drop', namespace: 'a.z' };
    expect(describeRuns([change('insert', 'a.x', 1), drop, change('insert', 'a.x', 2)])).toEqual([
      'a.x insert 1',
      'drop',
      'a.x insert 2',
    ]);
  });
});

/** A sink that keeps what it is given. */
function makeSink(work = () => {}) {
  const calls = [];
  return {
    calls,
    async apply(changes, progress) {
      await work(changes);
      calls.push([changes.length, progress?.position ?? null]);
    },
  };
}

const limits = (changed) => ({ ...DEFAULT_LIMITS, ...changed });

describe('a batch is full', () => {
  test('after so many changes, or so many bytes', () => {
    const byRows = new Applier(makeSink(), limits({ rows: 2 }));
    byRows.add(change('insert', 'a.x', 1), 10);
    expect(byRows.isFull).toBe(false);
    byRows.add(change('insert', 'a.x', 2), 10);
    expect(byRows.isFull).toBe(true);

    const byBytes = new Applier(makeSink(), limits({ bytes: 20 }));
    byBytes.add(change('insert', 'a.x', 1), 19);
    expect(byBytes.isFull).toBe(false);
    byBytes.add(change('insert', 'a.x', 2), 1);
    expect(byBytes.isFull).toBe(true);
  });

  test('when more than five seconds have gone by since the last flush, if there is anything to store', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const sink = makeSink();
      const applier = new Applier(sink, DEFAULT_LIMITS);
      vi.advanceTimersByTime(6000);
      expect(applier.isFull).toBe(false);
      applier.add({ kind: 'none', operation: 'create' }, 10);
      expect(applier.isFull).toBe(true);
      await applier.flush({ source: 's', position: 'p' });
      applier.add(change('insert', 'a.x', 1), 10);
      vi.advanceTimersByTime(5000);
      expect(applier.isFull).toBe(false);
      vi.advanceTimersByTime(1);
      expect(applier.isFull).toBe(true);
      await applier.flush(null);
      applier.touch();
      expect(applier.isFull).toBe(false);
      vi.advanceTimersByTime(5001);
      expect(applier.isFull).toBe(true);
      expect(sink.calls).toEqual([
        [0, 'p'],
        [1, null],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('nothing is stored where there is nothing', async () => {
    const sink = makeSink();
    await new Applier(sink, DEFAULT_LIMITS).flush(null);
    expect(sink.calls).toEqual([]);
  });
});

describe('while a batch is stored', () => {
  test('the next is collected, and waits for it; the one after is not begun', async () => {
    const finish = [];
    const sink = makeSink(() => new Promise((resolve) => finish.push(resolve)));
    const applier = new Applier(sink, DEFAULT_LIMITS);
    applier.add(change('insert', 'a.x', 1), 10);
    await applier.handOver({ source: 's', position: '1' });
    applier.add(change('insert', 'a.x', 2), 10);
    let isHandedOver = false;
    const second = applier.handOver({ source: 's', position: '2' }).then(() => {
      isHandedOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isHandedOver).toBe(false);
    expect(finish).toHaveLength(1);
    finish[0]();
    await second;
    expect(finish).toHaveLength(2);
    const end = applier.flush(null);
    finish[1]();
    await end;
    expect(sink.calls).toEqual([
      [1, '1'],
      [1, '2'],
    ]);
  });

  test('its failure is that of the next', async () => {
    const sink = makeSink(() => Promise.reject(new Error('it fails')));
    const applier = new Applier(sink, DEFAULT_LIMITS);
    applier.add(change('insert', 'a.x', 1), 10);
    await applier.handOver(null);
    await new Promise((resolve) => setTimeout(resolve, 5));
    applier.add(change('insert', 'a.x', 2), 10);
    await expect(applier.handOver(null)).rejects.toThrow('it fails');
    await expect(applier.flush(null)).rejects.toThrow('it fails');
  });
});

describe('a change that is refused', () => {
  const refuseFrom = (number) =>
    makeSink((changes) => {
      const index = changes.findIndex(({ key }) => key[0] >= number);
      if (index >= 0) throw new RefusedError(index, `refused ${changes[index].key[0]}`);
    });

  test('what came before it is stored, with its own progress', async () => {
    const sink = refuseFrom(3);
    const applier = new Applier(sink, DEFAULT_LIMITS);
    for (const number of [1, 2, 3, 4]) {
      applier.add(change('insert', 'a.x', number), 10, () => ({ source: 's', position: `after ${number}` }));
    }
    await expect(applier.flush({ source: 's', position: 'after all' })).rejects.toThrow('refused 3');
    expect(sink.calls).toEqual([[2, 'after 2']]);
    // What comes after it must not be stored, or its progress would pass the refused change.
    applier.add(change('insert', 'a.x', 1), 10);
    await expect(applier.flush({ source: 's', position: 'later' })).rejects.toThrow('refused 3');
    expect(sink.calls).toHaveLength(1);
  });

  test('of two, of which the sink finds the later one first: the earlier is reported, what came before is stored', async () => {
    let isFirst = true;
    const sink = makeSink((changes) => {
      const wanted = isFirst ? 4 : 2;
      isFirst = false;
      const index = changes.findIndex(({ key }) => key[0] === wanted);
      if (index >= 0) throw new RefusedError(index, `refused ${wanted}`);
    });
    const applier = new Applier(sink, DEFAULT_LIMITS);
    for (const number of [1, 2, 3, 4]) {
      applier.add(change('insert', 'a.x', number), 10, () => ({ source: 's', position: `after ${number}` }));
    }
    await expect(applier.flush({ source: 's', position: 'after all' })).rejects.toThrow('refused 2');
    expect(sink.calls).toEqual([[1, 'after 1']]);
  });

  test('the first one: nothing is stored', async () => {
    const sink = refuseFrom(2);
    const applier = new Applier(sink, DEFAULT_LIMITS);
    applier.add(change('insert', 'a.x', 2), 10, () => ({ source: 's', position: 'p' }));
    await expect(applier.flush({ source: 's', position: 'q' })).rejects.toThrow('refused 2');
    expect(sink.calls).toEqual([]);
  });

  test('among what has no progress, as storing it again does no harm: what came before it is stored', async () => {
    const sink = refuseFrom(2);
    const applier = new Applier(sink, DEFAULT_LIMITS);
    applier.add(change('insert', 'a.x', 1), 10, () => null);
    applier.add(change('insert', 'a.x', 2), 10, () => null);
    await expect(applier.flush(null)).rejects.toThrow('refused 2');
    expect(sink.calls).toEqual([[1, null]]);
  });
});

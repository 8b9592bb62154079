import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';
import { exploreParts } from './delivery/explore-parts.ts';
import { exploreDelivery } from './delivery/model.ts';
import type { Defect, Settings } from './delivery/state.ts';

const plain: Settings = { nodes: 1, texts: ['code'], onDoubt: 'resend', mostFaults: 1, mostReceipts: 0 };

/** Each is small enough to be visited whole; together they have every step. */
const short: Record<string, Partial<Settings>> = {
  'two nodes, a code': { nodes: 2 },
  'a code and its receipts': { mostReceipts: 1, isNamed: true, kinds: ['silence'] },
  'two nodes, a long text that is held': {
    nodes: 2,
    texts: ['long'],
    onDoubt: 'hold',
    kinds: ['death', 'clock', 'disconnect', 'rejection'],
  },
  'a long text that is held': { texts: ['long'], onDoubt: 'hold', kinds: ['lost answer', 'stall'] },
  'a long text that is sent again': { texts: ['long'], kinds: ['silence'] },
  'a long text and the receipts of its parts': { texts: ['long'], mostFaults: 0, mostReceipts: 1 },
  'two nodes, both texts': { nodes: 2, texts: ['code', 'long'], mostFaults: 0 },
  'a scheduled text': { texts: ['long'], scheduled: ['long'] },
  'carriers that never come up': { nodes: 2, mostFaults: 0, down: ['a', 'b'] },
};

const long: Record<string, Partial<Settings>> = {
  ...short,
  'a code and its receipts': { mostReceipts: 1, isNamed: true, kinds: ['lost answer', 'silence', 'death'] },
  'two nodes, a long text that is held': { nodes: 2, texts: ['long'], onDoubt: 'hold' },
  'a long text that is held, two faults': {
    texts: ['long'],
    onDoubt: 'hold',
    mostFaults: 2,
    kinds: ['lost answer', 'stall'],
  },
  'a long text that is sent again, two faults': { texts: ['long'], mostFaults: 2, kinds: ['silence'] },
  'two nodes, a code, three faults': { nodes: 2, mostFaults: 3 },
  'two nodes, a code, two faults, a receipt': { nodes: 2, mostFaults: 2, mostReceipts: 1, isNamed: true },
  'a code, two faults, a receipt by ids': { mostFaults: 2, mostReceipts: 1 },
  'two nodes, a long text, two faults': { nodes: 2, texts: ['long'], mostFaults: 2 },
  'two nodes, a long text that is held, two faults': {
    nodes: 2,
    texts: ['long'],
    onDoubt: 'hold',
    mostFaults: 2,
  },
  'a long text, a fault, two receipts': {
    texts: ['long'],
    mostReceipts: 2,
    kinds: ['silence', 'lost answer', 'death'],
  },
  'two nodes, both texts, a fault': { nodes: 2, texts: ['code', 'long'] },
};

/** Both visit the same states: see delivery-parts.test.ts. */
const exploreQuickly = (settings: Settings) =>
  settings.mostReceipts === 0 ? exploreParts(settings) : exploreDelivery(settings);

describe('every order of the steps of delivery', () => {
  for (const [name, settings] of Object.entries(inShort(short, long))) {
    test(`${name}: no state breaks an invariant`, () => {
      const { states, depth, violation } = exploreQuickly({ ...plain, ...settings });
      assert.equal(violation, undefined, told(violation));
      tellFigure(`delivery model, ${name}: ${states} states, up to ${depth} steps deep`);
    });
  }
});

function told(violation: { run: string[]; message: string } | undefined): string {
  return violation === undefined ? '' : `${violation.message}:\n${violation.run.join('\n')}`;
}

/** Errors that the product had: the model finds each, by the shortest run that shows it. */
const found: { defect: Defect; settings: Partial<Settings>; run: string[]; message: string }[] = [
  {
    defect: 'claim left',
    settings: { texts: ['long'], onDoubt: 'hold' },
    run: [
      'node 1, carrier a: claims long, and the answer is lost',
      'time passes',
      'the claims of carrier a whose lease is over are released',
      'time passes',
      'what waits past its time ends',
    ],
    message: 'long is unknown and was never submitted',
  },
  {
    defect: 'no expiry',
    settings: { mostFaults: 0, down: ['a', 'b'] },
    run: ['time passes', 'time passes', 'time passes', 'time passes'],
    message: 'code is queued after its time',
  },
  {
    defect: 'no revision',
    settings: { nodes: 2, texts: ['code', 'long'], kinds: ['lost answer'] },
    run: [
      'node 1, carrier a: claims code and long',
      'node 1, carrier a: reads its texts',
      'node 1, carrier a: submits part 1 of code',
      'carrier a refuses part 1 of code',
      'node 1, carrier a: records a piece, and the answer is lost',
      'node 1, carrier b: claims code',
      'node 1, carrier a: records again',
    ],
    message: 'code is in two places',
  },
  {
    defect: 'late submit',
    settings: { kinds: ['silence'] },
    run: [
      'node 1, carrier a: claims code',
      'node 1, carrier a: reads its texts',
      'node 1, carrier a: submits part 1 of code',
      'carrier a is silent about part 1 of code',
      'node 1, carrier a: records the rest',
      'carrier a throttles part 1 of code late',
      'node 1, carrier a: submits part 1 of code',
    ],
    message: 'code was submitted without a claim',
  },
  {
    defect: 'leases by the node clock',
    settings: { nodes: 2, kinds: ['clock'] },
    run: [
      'node 1, carrier a: claims code',
      'node 1: its clock jumps by 2',
      'the claims of carrier a whose lease is over are released',
      'what waits past its time ends',
    ],
    message: 'code is unknown and was never submitted',
  },
  {
    defect: 'overdue parts',
    settings: { nodes: 2, texts: ['long'], onDoubt: 'hold', kinds: ['stall'] },
    run: [
      'node 1, carrier a: claims long',
      'node 1, carrier a: reads its texts',
      'time passes while node 1 stands still',
      'the claims of carrier a whose lease is over are released',
      'node 1, carrier a: submits part 1 of long',
    ],
    message: 'long was submitted without a claim',
  },
  {
    defect: 'drop by age',
    settings: { texts: ['long'], scheduled: ['long'], mostFaults: 0 },
    run: ['time passes', 'the partition of long is dropped'],
    message: 'long has lost its record',
  },
  {
    defect: 'mover looks once',
    settings: { texts: ['long'], kinds: ['disconnect'] },
    run: [
      'node 1, carrier a: the connection ends',
      'the mover reads long of carrier a',
      'node 1, carrier a: connects',
      'node 1, carrier a: claims long',
      'node 1, carrier a: reads its texts',
      'node 1, carrier a: submits part 1 of long',
      'carrier a accepts part 1 of long',
      'node 1, carrier a: submits part 2 of long',
      'carrier a throttles part 2 of long',
      'node 1, carrier a: records the rest',
      'long move from a to b',
    ],
    message: 'long went on to another carrier although it may have been sent',
  },
  {
    defect: 'bare without parts',
    settings: { texts: ['long'], mostFaults: 2, kinds: ['disconnect', 'rejection'] },
    run: [
      'node 1, carrier a: claims long',
      'node 1, carrier a: reads its texts',
      'node 1, carrier a: submits part 1 of long',
      'carrier a accepts part 1 of long',
      'node 1, carrier a: the connection ends',
      'node 1, carrier a: Postgres refuses the result of long',
      'node 1, carrier a: records again',
      'the mover reads long of carrier a',
      'long move from a to b',
    ],
    message: 'long went on to another carrier although it may have been sent',
  },
];

describe('errors that the product had', () => {
  for (const { defect, settings, run, message } of found) {
    test(`${defect}: the model finds the shortest run`, () => {
      const { violation } = exploreQuickly({ ...plain, ...settings, defects: [defect] });
      assert.deepEqual(violation, { run, message });
    });
  }
});

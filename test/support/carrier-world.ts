import assert from 'node:assert/strict';
import { uuidOf } from '../../src/platform/ids.ts';
import type { DeliverPdu } from '../../src/smpp/pdu.ts';
import { emptySubmit } from '../../src/smpp/pdu.ts';
import type { TestApp } from './app.ts';
import type { TestDeveloper } from './developer.ts';
import { eventually } from './eventually.ts';
import { createOperator } from './operator.ts';
import { createSender, type Sender } from './texts.ts';

const path = '/portal/v1/operator/carriers';

export interface ShownCarrier {
  state: string;
  binds: { slot: number; state: string; error: string | null; next_try_at: string | null }[];
}

/** An operator who connects carriers, and an application that sends texts through them. */
export interface CarrierWorld {
  operator: TestDeveloper;
  sender: Sender;
  /** Makes a carrier on loopback, and waits until it is up unless `wait` says otherwise. */
  connect(port: number, settings?: Record<string, unknown>, more?: { name?: string; wait?: boolean }): Promise<void>;
  read(name?: string): Promise<ShownCarrier>;
  change(settings: Record<string, unknown>): Promise<void>;
  /** Deletes every carrier, and lets time pass until all have stopped. */
  disconnect(): Promise<void>;
  send(changes?: Record<string, unknown>): Promise<string>;
  /** Lets time pass until then: a receipt that came before the answer was written is retried after a while. */
  untilStatus(id: string, status: string): Promise<void>;
  untilShown(what: string, holds: (carrier: ShownCarrier) => boolean): Promise<ShownCarrier>;
  /** Lets time pass until something is so. */
  turnUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  /** What the record has of a text's attempts. */
  marks(id: string): Promise<{ attempt: number; possibleDuplicates: number }>;
  /** Texts that wait in the schedule because they are in doubt. */
  doubts(): Promise<number>;
}

/** The time between two polls. */
const stepMs = 250;
/** While the clock stands still, all requests count as made within one second, and too many are refused. */
const everyMs = 40;

export async function createCarrierWorld(app: TestApp): Promise<CarrierWorld> {
  const operator = await createOperator(app);
  const sender = await createSender(app);
  const names = new Set<string>();

  async function read(name = 'practice'): Promise<ShownCarrier> {
    const { status, body } = await operator.send('GET', `${path}/${name}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as ShownCarrier;
  }

  async function turnUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const poll = async () => {
      if (await holds()) return true;
      app.clock.advance(stepMs);
      return false;
    };
    await eventually(what, poll, { everyMs });
  }

  async function untilShown(what: string, holds: (carrier: ShownCarrier) => boolean, name?: string) {
    let shown = await read(name);
    const poll = async () => {
      shown = await read(name);
      return holds(shown);
    };
    await eventually(what, poll, { everyMs });
    return shown;
  }

  return {
    operator,
    sender,
    read,
    turnUntil,
    untilShown,
    async connect(port, settings = {}, { name = 'practice', wait = true } = {}) {
      const all = { host: '127.0.0.1', port, system_id: 'me', password: 'secret', ...settings };
      const { status, body } = await operator.send('POST', path, { name, kind: 'smpp', settings: all });
      assert.equal(status, 201, JSON.stringify(body));
      names.add(name);
      if (wait) await untilShown(`${name} to be up`, ({ state }) => state === 'up', name);
    },
    async change(settings) {
      const { status, body } = await operator.send('PATCH', `${path}/practice`, { settings });
      assert.equal(status, 200, JSON.stringify(body));
    },
    async disconnect() {
      for (const name of names) await operator.send('DELETE', `${path}/${name}?force=true`);
      names.clear();
      // The sandbox's own carrier stays.
      await turnUntil('the carriers to stop', () => app.delivery.workers().length <= 1);
    },
    async send(changes = {}) {
      const { status, body } = await sender.sms(changes);
      assert.equal(status, 201, JSON.stringify(body));
      return body.id;
    },
    untilStatus: (id, status) =>
      turnUntil(`${id} to be ${status}`, async () => (await sender.readSms(id)).status === status),
    async marks(id) {
      const { rows } = await app.db.database.query<{ attempt: number; possibleDuplicates: number }>(
        'select attempt, possible_duplicates as "possibleDuplicates" from message where id = $1',
        [uuidOf(id)],
      );
      return rows[0] ?? assert.fail(`there is no text ${id}`);
    },
    async doubts() {
      return (await app.db.database.query('select from delivery_schedule where in_doubt')).count;
    },
  };
}

/** A deliver_sm that says, as carriers write it, that a text was delivered. */
export function receiptOf(id: string, changes: Partial<DeliverPdu> = {}): DeliverPdu {
  return {
    ...emptySubmit,
    command: 'deliver_sm',
    status: 0,
    sequence: 1,
    esmClass: 0x04,
    source: '447700900123',
    sourceTon: 1,
    destination: 'ACME',
    destinationTon: 5,
    shortMessage: Buffer.from(`id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000 text:Hello`),
    ...changes,
  };
}

import { createPduLog, type PduLog } from '../../src/delivery/smpp/pdu-log.ts';
import type { Delivery } from '../../src/smpp/deliveries.ts';
import { emptySubmit, type SubmitFields } from '../../src/smpp/pdu.ts';
import { createSession } from '../../src/smpp/session.ts';
import type { CloseReason, Session, SessionOptions } from '../../src/smpp/session-types.ts';
import type { SubmitAnswer } from '../../src/smpp/submit-window.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';

export interface TestSession {
  session: Session;
  clock: TestClock;
  log: PduLog;
  delivered: Delivery[];
  reason(): CloseReason | undefined;
  /** Until it is bound or closed. */
  bound(): Promise<void>;
  closed(): Promise<CloseReason>;
  /** Turns the clock and checks the deadlines. */
  pass(ms: number): void;
  /** Submits a text; the answers arrive in the array that it returns. */
  submit(options?: { text?: string; deadlineMs?: number; fields?: Partial<SubmitFields> }): SubmitAnswer[];
  frees: number;
}

export const textTo = (text: string): SubmitFields => ({
  ...emptySubmit,
  source: '12345',
  destination: '14155550100',
  shortMessage: Buffer.from(text),
});

/** A session with the scripted SMSC on this port, on a clock that the test turns. */
export function openSession(port: number, overrides: Partial<SessionOptions> = {}): TestSession {
  const clock = createTestClock();
  const log = createPduLog(clock);
  const delivered: Delivery[] = [];
  let reason: CloseReason | undefined;
  const session = createSession({
    target: { host: '127.0.0.1', address: '127.0.0.1', port, tls: false },
    bind: { command: 'bind_transceiver', systemId: 'me', password: 'secret', systemType: '', addressRange: '' },
    window: 10,
    responseMs: 30_000,
    enquireLinkMs: 30_000,
    clock,
    log,
    onBound: () => {},
    onDeliver(delivery) {
      delivered.push(delivery);
      return Promise.resolve(0);
    },
    onFree: () => {
      test.frees++;
    },
    onClosed: (why) => {
      reason = why;
    },
    ...overrides,
  });
  const test: TestSession = {
    session,
    clock,
    log,
    delivered,
    frees: 0,
    reason: () => reason,
    async bound() {
      await eventually('bound', () => ['bound', 'closed'].includes(session.state), { everyMs: 2 });
    },
    async closed() {
      await eventually('closed', () => reason !== undefined, { everyMs: 2 });
      return reason as CloseReason;
    },
    pass(ms) {
      clock.advance(ms);
      session.tick();
    },
    submit({ text = 'hello', deadlineMs, fields } = {}) {
      const answers: SubmitAnswer[] = [];
      const request = { fields: { ...textTo(text), ...fields }, messageId: `msg_${text}`, deadlineMs };
      const taken = session.submit({ ...request, settle: (answer) => void answers.push(answer) });
      return taken ? answers : [{ kind: 'not_sent' }];
    },
  };
  return test;
}

export async function bindSession(port: number, overrides: Partial<SessionOptions> = {}): Promise<TestSession> {
  const test = openSession(port, overrides);
  await test.bound();
  return test;
}

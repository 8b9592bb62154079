// A bulkhead over real connections: room for a plan's burst on each API, one answer for equal reads, and callers that leave.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Admission, Gateway } from '../../src/http/admission.ts';
import { type Api, type Call, type Route, requireApplication, route } from '../../src/http/route.ts';
import { everyRight } from '../../src/http/sending-rights.ts';
import { createFairShare } from '../../src/platform/work/fair-share.ts';
import { type KeptConnection, openKeptConnection } from '../support/applications.ts';
import { eventually } from '../support/eventually.ts';
import { type BareServer, decisionOf, startBareServer } from './bare-server.ts';

/** Reads that begin when they have a turn, and end when the test says so. */
interface World {
  server: BareServer;
  side: ReturnType<typeof createFairShare>;
  /** The applications whose reads have begun. */
  begun: string[];
  arrived: () => number;
  letGo: () => void;
  ask(application: string, path: string): { connection: KeptConnection; status: Promise<number> };
}

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  // Nothing here waits for time to pass.
  const side = createFairShare({ concurrent: 4, perCaller: 2, waitingPerCaller: 100, waitMs: 600_000 });
  const begun: string[] = [];
  let arrived = 0;
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const slow = async (call: Call) => {
    const { applicationId } = requireApplication(call);
    begun.push(applicationId);
    await gate;
    return { status: 200, body: { applicationId } };
  };
  const gateway: Gateway = {
    admit: ({ headers, path }) => {
      arrived++;
      return admissionOf(String(headers.apikey), path.split('/')[1] as Api);
    },
    giveBack: ({ decision }) => decision,
    peek: () => decisionOf(60),
  };
  const server = await startBareServer({ routes: routesOf(slow), gateway, bulkheads: { side, outside: side } });
  const connections: KeptConnection[] = [];
  const ask = (application: string, path: string) => {
    const connection = openKeptConnection(server);
    connections.push(connection);
    return { connection, status: connection.get(path, { apikey: application }) };
  };
  try {
    await work({ server, side, begun, arrived: () => arrived, letGo, ask });
  } finally {
    letGo();
    for (const each of connections) each.close();
    await server.close();
  }
}

function routesOf(handler: (call: Call) => Promise<{ status: number; body: object }>): Route[] {
  const about = { auth: { kind: 'apikey' }, tag: 'Test', summary: 'For tests', answers: {}, method: 'GET' } as const;
  const inTurn = { ...about, bulkhead: 'side', handler } as const;
  return [
    ...['sms', 'verify'].map((api) => route({ ...inTurn, path: `/${api}/slow/{id}` })),
    route({ ...inTurn, path: '/sms/equal', shared: true }),
  ];
}

function admissionOf(applicationId: string, api: Api): Admission {
  const registrationId = `reg_${applicationId}_${api}`;
  return {
    caller: {
      kind: 'application',
      applicationId,
      applicationName: 'ACME',
      registrationId,
      windowKey: registrationId,
      api,
      highPriority: false,
      rights: everyRight,
    },
    decision: decisionOf(300),
    counted: true,
    refusal: undefined,
  };
}

describe('a bulkhead', () => {
  test('has room for the whole plan on each API, and callers take turns', () =>
    withWorld(async ({ side, begun, arrived, letGo, ask }) => {
      const ours = ['sms', 'verify'].flatMap((api) =>
        Array.from({ length: 200 }, (_, index) => ask('greedy', `/${api}/slow/${index}`).status),
      );
      await eventually('all have arrived', () => arrived() === 400);
      assert.deepEqual([begun, side.waiting], [['greedy', 'greedy'], 398]);
      const theirs = ask('modest', '/sms/slow/1').status;
      await eventually('the other begins at once', () => begun.includes('modest'));
      letGo();
      assert.deepEqual(new Set(await Promise.all([...ours, theirs])), new Set([200]));
    }));

  test('refuses what no plan of the caller admits', () =>
    withWorld(async ({ side, arrived, ask, letGo }) => {
      const asked = Array.from({ length: 310 }, (_, index) => ask('greedy', `/sms/slow/${index}`).status);
      await eventually('all have arrived', () => arrived() === 310);
      assert.equal(side.waiting, 300);
      letGo();
      const statuses = await Promise.all(asked);
      assert.deepEqual([statuses.filter((each) => each === 200).length, statuses.includes(503)], [302, true]);
    }));

  test('lets go of a caller whose connection breaks', () =>
    withWorld(async ({ side, begun, arrived, letGo, ask }) => {
      const asked = Array.from({ length: 30 }, (_, index) => ask('one', `/sms/slow/${index}`));
      await eventually('all have arrived', () => arrived() === 30);
      for (const { connection } of asked.slice(10)) connection.reset();
      await eventually('those that left wait no longer', () => side.waiting <= 10);
      letGo();
      assert.deepEqual(
        await Promise.all(asked.slice(0, 10).map(({ status }) => status)),
        Array.from({ length: 10 }, () => 200),
      );
      assert.ok(begun.length <= 12, `${begun.length} reads for ten callers, and two that may have begun`);
    }));

  test('reads once for equal requests of a registration that wait together, and for no one else', () =>
    withWorld(async ({ side, begun, arrived, letGo, ask }) => {
      const asked = Array.from({ length: 80 }, (_, index) => ask(index % 2 === 0 ? 'one' : 'two', '/sms/equal'));
      await eventually('all have arrived', () => arrived() === 80);
      assert.deepEqual([begun.length, side.waiting], [4, 2], 'two of each had begun before others came');
      for (const { connection } of asked.slice(40)) connection.close();
      letGo();
      const statuses = await Promise.all(asked.slice(0, 40).map(({ status }) => status));
      assert.deepEqual(new Set(statuses), new Set([200]));
      const readsOf = (name: string) => begun.filter((each) => each === name).length;
      assert.deepEqual([readsOf('one'), readsOf('two')], [3, 3]);
    }));
});

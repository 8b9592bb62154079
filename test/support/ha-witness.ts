import assert from 'node:assert/strict';
import type { Member, PatroniCluster } from '../../scripts/ha/patroni.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { eventually } from './eventually.ts';
import { tellFigure } from './figures.ts';

/** Writes to the servers past the service: what Postgres itself confirms, and then no longer has, no node could keep. */
export interface HaWitness {
  stop(): Promise<void>;
  /** Stops, and compares the rows. */
  assertKept(database: Database): Promise<void>;
}

const everyMs = 20;

export async function startHaWitness(postgres: PatroniCluster, first: Member): Promise<HaWitness> {
  await postgres.inDatabase(first, 'heliograph', async (database) => {
    await database.query(
      'create table drill (number integer primary key, member text not null, at timestamptz not null)',
    );
  });
  const confirmed = new Map<number, string>();
  let [next, stopped] = [0, false];

  /** At one member, as long as it takes writes. A standby refuses them. */
  async function follow(member: Member): Promise<void> {
    while (!stopped) {
      await postgres
        .inDatabase(member, 'heliograph', async (database) => {
          for (; !stopped; await new Promise((done) => setTimeout(done, everyMs))) {
            const number = next++;
            const began = new Date().toISOString();
            await database.query('insert into drill values ($1, $2, now())', [number, member.name]);
            confirmed.set(number, `${member.name} ${began} ${new Date().toISOString()}`);
          }
        })
        .catch(() => {});
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  const following = Promise.all(postgres.members.map(follow));
  const witness: HaWitness = {
    async stop() {
      stopped = true;
      await following;
    },
    async assertKept(database) {
      await eventually('the witness has written', () => confirmed.size > 0);
      await witness.stop();
      const { rows } = await database.query<{ number: number }>('select number from drill');
      const kept = new Set(rows.map(({ number }) => number));
      const lost = [...confirmed].filter(([number]) => !kept.has(number));
      tellFigure(`${confirmed.size} rows past the service were confirmed by Postgres, ${lost.length} of them lost`);
      assert.deepEqual(lost, [], 'Postgres lost what it had confirmed');
    },
  };
  return witness;
}

// The attacker's side, in a process of its own, so that its work does not hold up the caller whose answers are timed.
import { request } from 'node:http';

export interface Attack {
  url: string;
  headers: Record<string, string>;
  method?: string;
  body?: string;
  /** Requests under way at once, each on a connection of its own. */
  connections: number;
  /** Streams are opened and kept; everything else is asked again and again. */
  stream?: boolean;
}

/** How often each status was answered; 0 stands for no answer. */
export type Statuses = Record<number, number>;

const attack = JSON.parse(process.argv[2] ?? '') as Attack;
const statuses: Statuses = {};
let over = false;

function ask(): Promise<void> {
  return new Promise((done) => {
    const note = (status: number) => {
      if (Object.keys(statuses).length === 0) process.send?.('begun');
      statuses[status] = (statuses[status] ?? 0) + 1;
    };
    const sent = request(
      attack.url,
      { method: attack.method ?? 'GET', headers: attack.headers, agent: false },
      (answer) => {
        note(answer.statusCode ?? 0);
        answer.on('close', done);
        answer.on('error', () => done());
        answer.resume();
      },
    );
    sent.on('error', () => {
      if (!over) note(0);
      done();
    });
    sent.end(attack.body);
  });
}

async function keepAsking(): Promise<void> {
  while (!over) {
    await ask();
    // A stream that was refused is not tried again at full speed: that would be another attack.
    if (attack.stream === true) await new Promise((done) => setTimeout(done, 100));
  }
}

process.once('message', () => {
  over = true;
  process.send?.(statuses, () => process.exit(0));
});
for (let connection = 0; connection < attack.connections; connection++) void keepAsking();

// The numbers side by side: npm run bench
// `npm run bench -- quick` takes two minutes, for trying; `npm run bench -- sms token` runs only what is named;
// `npm run bench -- before=<folder>` runs against the build of another checkout, `node=<program>` on another Node as well.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bench, fullPace, quickPace, startBench } from './bench.ts';
import type { Row } from './result-row.ts';
import { terminalTable } from './result-tables.ts';
import { before, otherNode } from './scenarios/before.ts';
import { codes } from './scenarios/codes.ts';
import { connections } from './scenarios/connections.ts';
import { growthApplications } from './scenarios/growth-applications.ts';
import { growthInstallation } from './scenarios/growth-installation.ts';
import { growthMessages } from './scenarios/growth-messages.ts';
import { hooks } from './scenarios/hooks.ts';
import { idle } from './scenarios/idle.ts';
import { lanes } from './scenarios/lanes.ts';
import { latency } from './scenarios/latency.ts';
import { limits } from './scenarios/limits.ts';
import { listening } from './scenarios/listening.ts';
import { memory } from './scenarios/memory.ts';
import { nodes } from './scenarios/nodes.ts';
import { peers } from './scenarios/peers.ts';
import { profile } from './scenarios/profile.ts';
import { reads } from './scenarios/reads.ts';
import { refusals } from './scenarios/refusals.ts';
import { smpp } from './scenarios/smpp.ts';
import { smppServer } from './scenarios/smpp-server.ts';
import { sms } from './scenarios/sms.ts';
import { token } from './scenarios/token.ts';
import { traces } from './scenarios/traces.ts';
import { twilio } from './scenarios/twilio.ts';
import { verify } from './scenarios/verify.ts';
import { webhooks } from './scenarios/webhooks.ts';
import { writeResults } from './write-results.ts';

const scenarios: Record<string, (bench: Bench) => Promise<Row[]>> = {
  limits,
  sms,
  verify,
  hooks,
  token,
  twilio,
  reads,
  refusals,
  peers,
  listening,
  traces,
  smpp,
  'smpp-server': smppServer,
  codes,
  webhooks,
  lanes,
  latency,
  idle,
  nodes,
  connections,
  memory,
  'growth-applications': growthApplications,
  'growth-messages': growthMessages,
  'growth-installation': growthInstallation,
  profile,
};

const words = process.argv.slice(2);
const quick = words.includes('quick');
const other = words.find((word) => word.startsWith('before='));
if (other !== undefined) scenarios[other] = (bench) => before(bench, resolve(other.slice('before='.length)));
const program = words.find((word) => word.startsWith('node='));
if (program !== undefined) scenarios[program] = (bench) => otherNode(bench, resolve(program.slice('node='.length)));
const named = words.filter((word) => word !== 'quick');
const unknown = named.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(
    `Unknown scenarios: ${unknown.join(', ')}. The scenarios are: quick, ${Object.keys(scenarios).join(', ')}.`,
  );
  process.exit(1);
}

const built = spawnSync(process.execPath, ['scripts/run.mjs', '--build-only'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
});
if (built.status !== 0) process.exit(built.status ?? 1);

const startedMs = performance.now();
const bench = await startBench(quick ? quickPace : fullPace);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void bench.stop();
  });
}
const rows: Row[] = [];
const failed: string[] = [];
try {
  for (const [name, run] of Object.entries(scenarios)) {
    // A short profile says little: it is taken in a full run, or when asked for.
    if (named.length > 0 ? !named.includes(name) : quick && run === profile) continue;
    bench.say(`${((performance.now() - startedMs) / 1000).toFixed(0).padStart(5)} s  ${name}`);
    try {
      const made = await run(bench);
      rows.push(...made);
      if (made.length > 0) bench.say(`${terminalTable(made)}\n`);
    } catch (error) {
      // Its servers have been taken from under it.
      if (interrupted) break;
      // What the others have found is still worth reading.
      failed.push(name);
      console.error(error);
    }
  }
} finally {
  await bench.stop();
}
if (interrupted) process.exit(1);
if (rows.length > 0) console.log(`\n${terminalTable(rows)}\n`);
const busiest = Math.max(0, ...rows.map(({ measured }) => measured?.baseline.loadBusy ?? 0));
if (busiest > 0)
  console.log(`The load itself took at most ${busiest.toFixed(2)} of a core: below 1, the servers were the limit.`);
if (failed.length > 0) console.error(`Failed, so nothing is written: ${failed.join(', ')}`);
else if (named.length === 0) writeResults(rows, quick);
process.exit(failed.length);

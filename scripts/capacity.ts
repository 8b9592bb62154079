// npm run capacity: how many cores, connections and binds a load needs, by a measurement on this machine. docs/operations.md.
import { quickPace, startBench } from '../bench/bench.ts';
import { help, loadsOf, readCapacityArguments } from '../bench/capacity/arguments.ts';
import { measureMachine } from '../bench/capacity/measure.ts';
import { capacityReport } from '../bench/capacity/report.ts';
import { buildService } from '../test/support/service.ts';

const given = readCapacityArguments(process.argv.slice(2));
if (given === 'help' || 'problem' in given) {
  if (given === 'help') console.log(help);
  else console.error(`${given.problem}\n\n${help}`);
  process.exit(given === 'help' ? 0 : 2);
}

await buildService();
console.log('Measuring this machine takes about a minute. Other programs on it make the numbers worse.');
const bench = await startBench({ ...quickPace, warmUp: { requests: 5000, rounds: 4 } });
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void bench.stop();
  });
}
let report: string | undefined;
let failure: unknown;
try {
  report = capacityReport(await measureMachine(bench, (text) => console.log(text)), loadsOf(given));
} catch (error) {
  failure = error;
} finally {
  await bench.stop();
}
if (report !== undefined) console.log(`\n${report}\n`);
// Its servers were taken from under an interrupted measurement: what it then says explains nothing.
else if (!interrupted) console.error(failure);
process.exit(report === undefined ? 1 : 0);

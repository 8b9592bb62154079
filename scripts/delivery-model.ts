// npm run model: visits every state of two nodes, both texts and two faults, which takes hours. A run has at most two kinds
// of faults, so the pairs of kinds cover all runs; each is a process of its own. `npm run model -- <kind>+<kind>`: one pair.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { exploreDelivery } from '../test/model/delivery/model.ts';
import { type Fault, faults } from '../test/model/delivery/state.ts';

const mostStates = 60_000_000;
const [given] = process.argv.slice(2);
if (given === undefined) visitAll();
else visit(given.split('+').map(faultOf));

function visitAll(): void {
  const pairs = faults.flatMap((one, index) =>
    faults.slice(index).map((other) => [...new Set([one, other])].join('+')),
  );
  const failed = pairs.filter((pair) => {
    const args = ['--max-old-space-size=12000', '--import', 'tsx', fileURLToPath(import.meta.url), pair];
    return spawnSync(process.execPath, args, { stdio: 'inherit' }).status !== 0;
  });
  if (failed.length > 0) console.log(`Not visited, or broken: ${failed.join(', ')}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

function visit(kinds: Fault[]): void {
  const { states, depth, violation } = exploreDelivery(
    { nodes: 2, texts: ['code', 'long'], onDoubt: 'resend', mostFaults: 2, mostReceipts: 0, kinds },
    mostStates,
  );
  console.log(`${kinds.join(' and ')}: ${states} states, up to ${depth} steps deep`);
  if (violation === undefined) return;
  console.log([violation.message, ...violation.run].join('\n'));
  process.exitCode = 1;
}

function faultOf(name: string): Fault {
  const found = faults.find((fault) => fault === name);
  if (found === undefined) throw new Error(`${name} is no kind of fault. There are: ${faults.join(', ')}.`);
  return found;
}

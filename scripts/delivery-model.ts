// npm run model: visits every state of two nodes, both texts and two faults. It takes about an hour, and 8 GB.
// `npm run model -- 1` stops at one fault; `-- 2 hold` keeps plain texts in doubt instead of sending them again.
import { exploreParts } from '../test/model/delivery/explore-parts.ts';

const [faults = '2', onDoubt = 'resend'] = process.argv.slice(2);
const mostFaults = Number(faults);
if (!Number.isInteger(mostFaults) || mostFaults < 0 || (onDoubt !== 'resend' && onDoubt !== 'hold'))
  throw new Error('npm run model [-- <most faults> [resend | hold]]');

let level = 0;
const { states, depth, violation } = exploreParts(
  { nodes: 2, texts: ['code', 'long'], onDoubt, mostFaults, mostReceipts: 0 },
  (known) => console.log(`${++level} steps deep: ${known} states`),
);
console.log(`two nodes, both texts, ${mostFaults} faults: ${states} states, up to ${depth} steps deep`);
if (violation !== undefined) {
  console.log([violation.message, ...violation.run].join('\n'));
  process.exitCode = 1;
}

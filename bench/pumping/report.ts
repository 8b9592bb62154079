import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AttackResult, goals, type HonestResult } from './goals.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = `${root}docs/performance.md`;
const tableInDocument = /(<!-- written by npm run pumping -->\n).*(<!-- end of pumping -->)/s;

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
const count = new Intl.NumberFormat('en');

/** What was found, as tables. */
export function tables(attacks: readonly AttackResult[], honest: readonly HonestResult[]): string {
  const rows = attacks.map(
    ({ attack, tenant, seeds, ordered, sent, stopped, leastStopped, newRefused, mostRefused }) =>
      `| ${attack.name} | ${tenant.name} | ${count.format(Math.round(ordered / seeds))} | ${count.format(Math.round(sent / seeds))} | ${percent(stopped)} (${percent(leastStopped)}) | ${percent(newRefused)} (${percent(mostRefused)}) |`,
  );
  const honestRows = honest.map(
    ({ traffic, people, refused }) =>
      `| ${traffic.name} | ${count.format(people)} | ${count.format(refused)} | ${percent(refused / people)} |`,
  );
  return [
    '| Attack | Application | Starts | Texts | Stopped after 500 (worst seed) | New users refused (worst seed) |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '| Honest traffic | Starts | Refused | |',
    '| --- | --- | --- | --- |',
    ...honestRows,
    '',
  ].join('\n');
}

/** The goals that do not hold. */
export function failures(attacks: readonly AttackResult[], honest: readonly HonestResult[]): string[] {
  const tellable = attacks.filter(({ attack }) => attack.isTellable);
  const name = ({ attack, tenant }: AttackResult) => `${attack.name}, ${tenant.name}`;
  return [
    ...tellable
      .filter(({ stopped }) => stopped < goals.stopped)
      .map((result) => `${name(result)}: only ${percent(result.stopped)} are stopped`),
    ...tellable
      .filter(({ newRefused }) => newRefused >= goals.newRefused)
      .map((result) => `${name(result)}: ${percent(result.newRefused)} of the new users are refused`),
    ...honest
      .filter(({ people, refused }) => refused >= goals.honestRefused * people)
      .map(({ traffic, people, refused }) => `${traffic.name}: ${percent(refused / people)} are refused`),
  ];
}

export function writeReport(attacks: readonly AttackResult[], honest: readonly HonestResult[]): void {
  const text = readFileSync(document, 'utf8');
  const table = tables(attacks, honest);
  writeFileSync(
    document,
    text.replace(tableInDocument, (_all, start: string, end: string) => `${start}\n${table}\n${end}`),
  );
}

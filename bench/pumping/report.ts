import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AttackResult, goals, type HonestResult, type HookResult } from './goals.ts';
import { picture } from './picture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pictureFile = `${root}docs/pictures/pumping.svg`;
const tablesFile = `${root}bench/results/pumping.md`;
const hooksFile = `${root}bench/results/pumping-hooks.md`;
const head = '`npm run pumping` wrote this file. docs/performance.md says how to read it.';

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

/** What gets through a hook whose server reports nothing. */
export function hookTable(results: readonly HookResult[]): string {
  const rows = results.map(
    ({ attack, ordered, sent, mostOfPrefix }) =>
      `| ${attack.name} | ${count.format(Math.round(ordered))} | ${count.format(Math.round(sent))} | ${percent(1 - sent / ordered)} | ${mostOfPrefix} |`,
  );
  const columns = '| Attack through a hook | Starts | Texts | Stopped | Most texts of a prefix in an hour |';
  return [columns, '| --- | --- | --- | --- | --- |', ...rows, ''].join('\n');
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

export function writeHookReport(results: readonly HookResult[]): void {
  writeFileSync(hooksFile, `${head.replace('pumping', 'pumping -- hooks')}\n\n${hookTable(results)}`);
}

export function writeReport(attacks: readonly AttackResult[], honest: readonly HonestResult[]): void {
  writeFileSync(pictureFile, picture(attacks));
  writeFileSync(tablesFile, `${head}\n\n${tables(attacks, honest)}`);
}

import { type CarrierBind, readBinds, stateOf } from '../delivery/carrier/bind-store.ts';
import { type CarrierRow, readCarriers } from '../delivery/carrier/store.ts';
import { countUnmatched, countWaiting } from '../delivery/receipts/awaited-texts.ts';
import { readNewestTable } from '../delivery/routing/table-store.ts';
import { listNumbers } from '../inbound/own-number-store.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { listByStatus } from '../registry/sender-store.ts';

const mostCounted = 10_000;
const head = ['CARRIER', 'STATE', 'BINDS', 'WAITING', 'UNMATCHED'];

interface StatusParts {
  database: Database;
  clock: Clock;
}

/** `npm run carriers -- status`: carriers with their connections, and how many routes, senders and numbers there are. */
export async function showStatus(parts: StatusParts): Promise<string> {
  return [...(await carrierLines(parts)), '', ...(await otherLines(parts)), ''].join('\n');
}

/** A line for each carrier, and below it why a bind is not bound. */
async function carrierLines({ database, clock }: StatusParts): Promise<string[]> {
  const rows = await readCarriers(database);
  if (rows.length === 0) return ['', 'There are no carriers. docs/carriers.md explains how to connect one.'];
  const ids = rows.map(({ id }) => id);
  const binds = await readBinds(database, ids, clock.nowMs());
  const lines: { cells: string[]; notes: string[] }[] = [];
  for (const row of rows) {
    const own = binds.filter(({ carrierId }) => carrierId === row.id);
    const waiting = await countWaiting(database, row, mostCounted);
    const unmatched = await countUnmatched(database, row, mostCounted);
    lines.push({ cells: cellsOf(row, own, waiting, unmatched), notes: notesOf(row, own, unmatched) });
  }
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const inColumns = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const shown = lines.flatMap(({ cells, notes }) => [inColumns(cells), ...notes.map((note) => `  ${note}`)]);
  return ['', inColumns(head), ...shown];
}

async function otherLines({ database }: StatusParts): Promise<string[]> {
  const table = await readNewestTable(database);
  const routes = table?.routes.length ?? 0;
  const page = { limit: mostCounted, after: undefined };
  const counted = async (list: Promise<unknown[]>) => count((await list).length);
  return [
    routes === 0
      ? 'Routes: none, so every carrier takes every text.'
      : `Routes: ${routes}, version ${table?.version} of ${toTimestamp(table?.createdAtMs ?? 0)}.`,
    `Senders: ${await counted(listByStatus(database, 'approved', page))} approved, ${await counted(listByStatus(database, 'pending', page))} waiting for an operator.`,
    `Numbers: ${await counted(listNumbers(database, {}, page))} given to applications.`,
  ];
}

function cellsOf(row: CarrierRow, binds: CarrierBind[], waiting: number, unmatched: number): string[] {
  // Each node that runs a carrier of kind http has one row.
  const wanted = row.kind === 'http' ? binds.length : Number(row.settings.binds);
  const bound = binds.filter(isWorking).length;
  const state = stateOf(binds, wanted).replace('_', ' ');
  return [row.name, row.paused ? `paused, ${state}` : state, `${bound} of ${wanted}`, count(waiting), count(unmatched)];
}

function isWorking({ state }: CarrierBind): boolean {
  return state === 'bound' || state === 'ready';
}

function count(number: number): string {
  return number < mostCounted ? String(number) : `${mostCounted} or more`;
}

function notesOf({ kind, settings }: CarrierRow, binds: CarrierBind[], unmatched: number): string[] {
  const notes = binds
    .filter((bind) => !isWorking(bind))
    .map(({ slot, node, state, error, nextTryAtMs }) => {
      const next = nextTryAtMs === null ? '' : ` Next try at ${toTimestamp(nextTryAtMs)}.`;
      return `bind ${slot} on ${node} is ${state}.${error === null ? '' : ` ${error}`}${next}`;
    });
  if (binds.length === 0) notes.push('No worker runs it. Start the service, or a node with HELIOGRAPH_ROLE=worker.');
  const hint = binds.find((bind) => typeof bind.hint === 'string')?.hint;
  if (typeof hint === 'string') notes.push(`${hint}.`);
  else if (unmatched > 0)
    notes.push(
      `${count(unmatched)} ${unmatched === 1 ? 'receipt matches' : 'receipts match'} no text. Compare ids in the carrier's log${kind === 'http' ? '' : `; message_id is ${JSON.stringify(settings.message_id)}`}.`,
    );
  return notes;
}

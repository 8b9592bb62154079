import { findTexts, textState, toText, type VerificationText } from '../../messages/message-store.ts';
import type { SentText } from '../../messages/text/sent-texts.ts';
import { hourMs } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor, uuidTimeMs } from '../../platform/ids.ts';
import type { Verification } from '../verification.ts';
import { toVerification, type VerificationRow } from '../verification-row.ts';
import { findAllTexts } from './all-texts.ts';

/** A verification with the state of its newest text; undefined where none was sent. */
export interface VerificationAndText {
  row: Verification;
  text: VerificationText | undefined;
  /** All texts, oldest first; undefined if there is at most one. */
  all?: readonly SentText[] | undefined;
}

/** A row that a statement has read with `newestText`. */
export interface RowAndText extends VerificationRow {
  text: string | null;
}

/** SQL for the state of the newest text of a verification of `table`; the parameters are those of `textRange`. */
export const newestText = (table: string, from: string, below: string) =>
  `${textState(`${table}.text_ids[cardinality(${table}.text_ids)]`, { from, below })} as text`;

/**
 * Texts are created with their verification or minutes later. A text outside this range, after a change of the clock,
 * is read alone.
 */
export function textRange([first, last]: [first: string, last: string]): [from: string, below: string] {
  return [uuidFloor(uuidTimeMs(first) - hourMs), uuidFloor(uuidTimeMs(last) + hourMs)];
}

export async function toVerificationsAndTexts(tx: Tx, rows: RowAndText[]): Promise<VerificationAndText[]> {
  const all = rows.map((read) => {
    const row = toVerification(read);
    const id = newestTextId(row);
    return { row, text: read.text === null || id === undefined ? undefined : toText(id, read.text) };
  });
  await addAllTexts(tx, all);
  const missing = all.filter(({ row, text }) => text === undefined && row.textIds.length > 0);
  if (missing.length === 0) return all;
  const found = await findNewestTexts(
    tx,
    missing.map(({ row }) => row),
  );
  for (const [index, each] of missing.entries()) each.text = found[index];
  return all;
}

/** Verifications with several texts are rare, so their texts are read apart. */
async function addAllTexts(tx: Tx, verifications: VerificationAndText[]): Promise<void> {
  const several = verifications.filter(({ row }) => row.textIds.length > 1);
  if (several.length === 0) return;
  const texts = await findAllTexts(
    tx,
    several.map(({ row }) => row),
  );
  for (const each of several) each.all = texts.get(each.row.id);
}

function newestTextId({ textIds }: Pick<Verification, 'textIds'>): string | undefined {
  return textIds.at(-1);
}

/** The newest text of each verification, in order; undefined where none was sent. */
export async function findNewestTexts(
  tx: Tx,
  verifications: Pick<Verification, 'textIds'>[],
): Promise<(VerificationText | undefined)[]> {
  const texts = await findTexts(
    tx,
    verifications.flatMap((verification) => newestTextId(verification) ?? []),
  );
  return verifications.map((verification) => texts.get(newestTextId(verification) ?? ''));
}

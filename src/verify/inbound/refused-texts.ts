// Tests: test/contract/inbound-verifications.test.ts
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor, uuidOf } from '../../platform/ids.ts';
import type { Verification } from '../verification.ts';
import { toVerification, type VerificationRow, verificationColumns } from '../verification-row.ts';
import { inboundOf, plainText } from './request-text.ts';

/** Why a text that a verification asked for did not approve it. */
export type RefusalOfText = 'foreign' | 'forged' | 'late' | 'number_lost' | 'other_number' | 'repeated';

/** A text that did not approve its verification, for the timeline. */
export interface RefusedText {
  atMs: number;
  why: RefusalOfText;
}

/** Maximum refused texts that a row keeps, because a person may repeat a text many times. */
const mostKept = 20;
const mostAlike = 5;

type Ring = Pick<KeyRing, 'keyFor' | 'version' | 'versions'>;

/** Every text that we ask a person to send ends in eight digits. */
const askedForm = / [0-9]{8}$/;

/** The oldest version never changes, so a text is recognised after a rotation of the ring. */
function hashOf(keys: Ring, text: string): Buffer {
  return keyedHash(keys.keyFor('inbound', keys.versions.at(-1) ?? keys.version), `awaited:${plainText(text)}`);
}

/** Remembers the texts of new verifications by `inbound`. */
export async function insertAwaited(tx: Tx, keys: Ring, started: readonly Verification[]): Promise<void> {
  const awaited = started.flatMap((row) => {
    const asked = inboundOf(keys, row);
    return asked === undefined ? [] : [{ id: uuidOf(row.id), hash: hashOf(keys, asked.text) }];
  });
  if (awaited.length === 0) return;
  await tx.query(
    'insert into awaited_text (verification_id, text_hash) select * from unnest($1::uuid[], $2::bytea[])',
    [awaited.map(({ id }) => id), awaited.map(({ hash }) => hash)],
  );
}

interface RefusableText {
  from: string;
  to: string;
  text: string;
  /** The text came through a trusted carrier, to a verification that waits for it. */
  trusted: boolean;
}

/** Records for the verification's timeline why a text did not approve it. Texts of another form cost no statement. */
export async function noteRefused(
  tx: Tx,
  keys: Ring,
  { from, to, text, trusted }: RefusableText,
  nowMs: number,
): Promise<void> {
  if (!askedForm.test(plainText(text))) return;
  const { rows } = await tx.query<VerificationRow>(alikeStatement, [hashOf(keys, text), mostAlike]);
  const alike = rows.map(toVerification);
  const asked = alike.find((row) => row.to === from) ?? alike[0];
  if (asked === undefined) return;
  const isRightNumber = inboundOf(keys, asked)?.number === to;
  const refused = { atMs: nowMs, why: refusalOf(asked, { from, trusted, isRightNumber }, nowMs) };
  await tx.query(noteStatement, [uuidOf(asked.id), JSON.stringify([refused]), mostKept]);
}

function refusalOf(
  asked: Verification,
  { from, trusted, isRightNumber }: Pick<RefusableText, 'from' | 'trusted'> & { isRightNumber: boolean },
  nowMs: number,
): RefusalOfText {
  if (!isRightNumber) return 'other_number';
  if (asked.to !== from) return 'foreign';
  if (asked.status === 'approved') return 'repeated';
  if (asked.status !== 'pending' || asked.expiresAtMs <= nowMs) return 'late';
  // A pending verification accepts its text unless the carrier is not trusted or the application has lost the number.
  return trusted ? 'number_lost' : 'forged';
}

const alikeStatement = {
  name: 'find-alike-awaited-texts',
  text: `select ${verificationColumns('v')} from awaited_text a join verification v on v.id = a.verification_id
    where a.text_hash = $1 order by a.verification_id desc limit $2`,
};

const noteStatement = {
  name: 'note-refused-text',
  text: `update awaited_text set refused = refused || $2::jsonb
    where verification_id = $1 and jsonb_array_length(refused) < $3`,
};

/** The texts that a verification refused, oldest first. */
export async function findRefused(tx: Tx, verificationId: string): Promise<RefusedText[]> {
  const { rows } = await tx.query<{ refused: RefusedText[] }>(
    'select refused from awaited_text where verification_id = $1',
    [uuidOf(verificationId)],
  );
  return rows[0]?.refused ?? [];
}

/** Deletes some of the texts of verifications that began before a time. */
export async function deleteOldAwaited(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from awaited_text where ctid = any(array(
       select ctid from awaited_text where verification_id < $1 order by verification_id limit 1000))`,
    [uuidFloor(beforeMs)],
  );
  return count;
}

const sentences: Record<RefusalOfText, string> = {
  foreign: 'A text with the right words came from another number',
  forged: 'The text came through a carrier whose senders are not trusted',
  late: 'The text came after the verification had ended',
  number_lost: 'The text came to a number that the application no longer holds',
  other_number: 'The text came to another number than the one in the verification',
  repeated: 'The text came again after it had approved the verification',
};

export const refusalSentence = ({ why }: RefusedText): string => `${sentences[why]}, so it approves nothing`;

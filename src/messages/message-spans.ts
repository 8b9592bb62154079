import { type Api, apiNames } from '../http/route.ts';
import type { Tx } from '../platform/database/database.ts';
import { uuidOf } from '../platform/ids.ts';
import type { ShownMessage } from './message.ts';
import { type ShownRow, shownColumns, toShown } from './message-row.ts';

/** Messages of one application and API whose ids, as uuids, are at least `from` and below `below`: the newest `limit`. */
export interface Span {
  applicationId: string;
  api: Api;
  from: string;
  below: string;
  limit: number;
}

export const highestUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Reads several spans with one query, each newest first: Postgres takes longer to plan it than to read a page. */
export async function readSpans(tx: Tx, spans: Span[]): Promise<ShownMessage[][]> {
  const [only] = spans;
  if (only !== undefined && spans.length === 1) return [await readSpan(tx, only)];
  const { rows } = await tx.query<ShownRow & { place: number }>(spansStatement, [
    spans.map(({ applicationId }) => uuidOf(applicationId)),
    spans.map(({ api }) => apiNames.indexOf(api)),
    spans.map(({ from }) => from),
    spans.map(({ below }) => below),
    spans.map(({ limit }) => limit),
    spans.reduce((lowest, { from }) => (from < lowest ? from : lowest), highestUuid),
    spans.reduce((highest, { below }) => (below > highest ? below : highest), ''),
  ]);
  const pages: ShownMessage[][] = spans.map(() => []);
  for (const row of rows) pages[row.place - 1]?.push(toShown(row));
  for (const page of pages) page.sort((a, b) => (a.id < b.id ? 1 : -1));
  return pages;
}

/** The last two parameters are the bounds of all spans: with them Postgres opens only the partitions that hold them. */
const spansStatement = {
  name: 'select-spans-of-messages',
  text: `select place, m.* from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::uuid[], $5::integer[]) with ordinality
      as s(application_id, api, lowest, upper, size, place)
    cross join lateral (
      select ${shownColumns} from message
      where application_id = s.application_id and api = s.api and id >= s.lowest and id < s.upper
        and id >= $6 and id < $7
      order by id desc limit s.size) m`,
};

export async function readSpan(
  tx: Tx,
  { applicationId, api, from, below, limit }: Span,
  filter: { to?: string | undefined; reference?: string | undefined } = {},
): Promise<ShownMessage[]> {
  const values: unknown[] = [uuidOf(applicationId), apiNames.indexOf(api), from, below, limit];
  const conditions = ['application_id = $1', 'api = $2', 'id >= $3', 'id < $4'];
  let name = 'select-messages-of-span';
  if (filter.to !== undefined) {
    conditions.push(`recipient = $${values.push(filter.to)}`, 'verification_id is null');
    name += '-by-number';
  }
  if (filter.reference !== undefined) {
    conditions.push(`reference = $${values.push(filter.reference)}`);
    name += '-by-reference';
  }
  const text = `select ${shownColumns} from message where ${conditions.join(' and ')} order by id desc limit $5`;
  const { rows } = await tx.query<ShownRow>({ name, text }, values);
  return rows.map(toShown);
}

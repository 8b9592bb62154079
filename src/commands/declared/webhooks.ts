import { eventTypes } from '../../events/event.ts';
import { spellSecret } from '../../platform/crypto/webhook-signature.ts';
import { hostOf } from '../../portal/developer/webhook-api.ts';
import { newSecret, openSecrets } from '../../webhooks/secret-store.ts';
import { listWebhooksOf } from '../../webhooks/store.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { WrittenWebhook } from './application-file.ts';
import { changedEntry, differing, type Entry, type FieldChange, type SectionPlan, shownFields } from './change.ts';
import type { FoundApplication } from './find-applications.ts';
import { agrees, match } from './matching.ts';
import { checkedOnce, grouped, type Planning, remembered } from './planning.ts';
import { revealed } from './secret.ts';

/** Both secrets sign for a day: the receiver takes the new one when it is deployed. */
const overlapSeconds = 86_400;
const [leastBytes, mostBytes] = [24, 64];
const rightSecret = `whsec_ and the base64 of ${leastBytes} to ${mostBytes} bytes`;

/** The webhooks of applications. A webhook is found by its id, or by its address. */
export async function planWebhooks(
  applications: readonly FoundApplication[],
  planning: Planning,
): Promise<SectionPlan> {
  const declaring = applications.filter(({ written }) => written.webhooks !== undefined);
  const rows =
    declaring.length === 0
      ? []
      : await listWebhooksOf(
          planning.tx,
          declaring.map(({ id }) => id),
        );
  const byApplication = grouped(rows, ({ applicationId }) => applicationId);
  const matched = declaring.map((found) => matchOf(found, byApplication.get(found.id) ?? [], planning));
  const withSecret = matched.flatMap(({ matches }) =>
    matches.flatMap(({ written, row }) => (row !== undefined && written.secret !== undefined ? [row.id] : [])),
  );
  const secrets = withSecret.length === 0 ? new Map() : await openSecrets(planning.tx, planning.keys, withSecret);
  const entries = await Promise.all(
    matched.flatMap(({ found, matches }) =>
      matches.map((each) => planOne({ ...each, found, signs: secrets.get(each.row?.id ?? '')?.[0]?.secret }, planning)),
    ),
  );
  return {
    entries,
    unnamed: matched.flatMap(({ found, others }) => others.map((row) => removal(row, found, planning))),
  };
}

function matchOf(found: FoundApplication, rows: Webhook[], { problems }: Planning) {
  const given = (found.written.webhooks ?? []).map((written, index) => ({
    ...{ path: `${found.path}.webhooks.${index}`, written },
  }));
  const isSame = (written: WrittenWebhook, row: Webhook) => agrees(toShown(row), fieldsOf(written));
  const keyOf = ({ url }: WrittenWebhook | Webhook) => url;
  return { found, ...match<WrittenWebhook, Webhook>(given, rows, { keyOf, isSame, keepsKey: false, problems }) };
}

interface MatchedWebhook {
  path: string;
  written: WrittenWebhook;
  row: Webhook | undefined;
  found: FoundApplication;
  /** The newest secret that signs now. */
  signs: Buffer | undefined;
}

function fieldsOf({ url, types, description, status }: WrittenWebhook) {
  return { url, types: types && inOrder(types), description, status };
}

function toShown({ url, types, description, status }: Webhook) {
  return { url, types: inOrder(types), description, status };
}

/** The order of types has no meaning. */
function inOrder(types: Webhook['types']): Webhook['types'] {
  return eventTypes.filter((type) => types.includes(type));
}

async function planOne(matched: MatchedWebhook, planning: Planning): Promise<Entry> {
  const { path, written, row, found, signs } = matched;
  const { problems, memory, webhooks } = planning;
  const { url } = written;
  const wrong = url === row?.url ? undefined : await checkedOnce(memory, `url ${url}`, () => webhooks.urlProblem(url));
  if (wrong !== undefined) problems.add(`${path}.url`, wrong);
  const given = secretOf(written, path, planning);
  const name = `${shownUrl(url)} of ${found.written.name}`;
  if (row === undefined) return creation(matched, name, given, planning);
  const isOther = given !== undefined && signs?.equals(given) !== true;
  // If the webhook's owner has made another secret since, the file's secret replaces it.
  const fields = differing(toShown(row), fieldsOf(written)).map(
    (each): FieldChange =>
      each.field === 'url' ? { field: 'url', before: shownUrl(row.url), after: shownUrl(url) } : each,
  );
  const all: FieldChange[] = [...fields, ...(isOther ? [{ field: 'secret', secret: true } as const] : [])];
  return changedEntry({ kind: 'webhook', name, fields: all }, async ({ noteOf }) => {
    const about = { id: row.id, accountId: found.accountId };
    const details = { application_id: found.id, changed: fields.map(({ field }) => field) };
    const changed = noteOf({ act: 'webhook.changed', ...about, details });
    if (fields.length > 0) await webhooks.change(found.id, row.id, fieldsOf(written), changed);
    const rotated = { application_id: found.id, overlap_seconds: overlapSeconds };
    const note = noteOf({ act: 'webhook.secret_created', ...about, details: rotated });
    if (isOther) await webhooks.rotateSecret(found.id, row.id, overlapSeconds, (tx) => note(tx, undefined), given);
  });
}

function creation(
  { path, written, found }: MatchedWebhook,
  name: string,
  given: Buffer | undefined,
  planning: Planning,
): Entry {
  const { webhooks, memory } = planning;
  const { url, types = [], description = null, status } = written;
  if (written.secret === undefined) planning.unseen.push(path);
  const secret = given ?? remembered(memory.newSecrets, path, newSecret);
  const { url: _, ...shown } = fieldsOf(written);
  return {
    ...{ action: 'create', kind: 'webhook', name, fields: shownFields(shown) },
    reveal: (credentials) => {
      if (written.secret !== undefined) return;
      const about = { application: found.written.name, application_id: found.id };
      credentials.add({ type: 'webhook_secret', ...about, url, secret: spellSecret(secret) });
    },
    act: async ({ noteOf }) => {
      const details = { application_id: found.id, host: hostOf(url) };
      const made = await webhooks.create(found.id, { url, types, description, secret }, (tx, id) =>
        noteOf({ act: 'webhook.created', id, accountId: found.accountId, details })(tx, undefined),
      );
      if (status !== 'paused') return;
      const changed = { application_id: found.id, changed: ['status'], status };
      const note = noteOf({ act: 'webhook.changed', id: made.id, accountId: found.accountId, details: changed });
      await webhooks.change(found.id, made.id, { status }, note);
    },
  };
}

function secretOf({ secret }: WrittenWebhook, path: string, planning: Planning): Buffer | undefined {
  const place = `${path}.secret`;
  const text = revealed(secret, place, planning);
  if (text === undefined) return undefined;
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  const isRight = bytes.length >= leastBytes && bytes.length <= mostBytes;
  if (!isRight) planning.problems.add(place, `names ${secret?.env}, which must have ${rightSecret}`);
  return isRight ? bytes : undefined;
}

/** No secret is that short. */
const shortPath = 12;

/** The path of an address may be a secret, so a long one shows only its end. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'a webhook';
  const { host, pathname, search } = new URL(url);
  const rest = `${pathname}${search}`;
  if (rest === '/') return host;
  return rest.length <= shortPath ? `${host}${rest}` : `${host}/…${rest.slice(-4)}`;
}

function removal(row: Webhook, found: FoundApplication, { webhooks }: Planning): Entry {
  const details = { application_id: found.id };
  return {
    ...{ action: 'delete', kind: 'webhook', name: `${shownUrl(row.url)} of ${found.written.name}`, fields: [] },
    act: ({ noteOf }) =>
      webhooks.remove(
        found.id,
        row.id,
        noteOf({ act: 'webhook.deleted', id: row.id, accountId: found.accountId, details }),
      ),
  };
}

import { type Static, Type } from 'typebox';
import type { HookCall } from '../../hooks/calls.ts';
import { type Hook, type HookKind, type HookPointers, type HookSecret, hookKinds } from '../../hooks/hook.ts';
import { kindRules } from '../../hooks/kinds.ts';
import { pointerProblems } from '../../hooks/payload.ts';
import { isPointer, pointerPattern, rightPointer } from '../../hooks/pointer.ts';
import { longestGiven } from '../../hooks/secret.ts';
import type { HookDetail } from '../../hooks/service.ts';
import { nullable, recordId } from '../../http/list-page.ts';
import { longestSender, rightSender, senderProblem } from '../../messages/numbers/sender.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { localePattern, localeProblem, longestLocale } from '../../verify/texts/translations.ts';

export const kindSchema = Type.Unsafe<HookKind>({
  type: 'string',
  enum: [...hookKinds],
  expected: `one of ${hookKinds.join(', ')}`,
  description: 'The identity server',
});

const longestPointer = 200;
const pointer = (about: string) =>
  Type.Optional(
    Type.String({
      maxLength: longestPointer,
      expected: rightPointer,
      shown: { pattern: pointerPattern },
      description: about,
    }),
  );
export const pointersSchema = Type.Object(
  {
    to: pointer('Where the payload has the number'),
    code: pointer('Where it has the code'),
    text: pointer('Where it has the text, for payloads without a code'),
    locale: pointer('Where it has the language'),
    ip: pointer('Where it has the address of the person'),
  },
  { title: 'HookPointers', examples: [{ to: '/phone', code: '/otp' }], description: 'JSON pointers into the payload' },
);
export const fromSchema = Type.String({
  maxLength: longestSender,
  expected: rightSender,
  examples: ['ACME'],
  description: 'The sender of texts without a code',
});
export const localeSchema = Type.String({
  maxLength: longestLocale,
  shown: { pattern: localePattern },
  examples: ['de'],
  description: 'The language of its texts, unless a payload names one',
});
export const givenSecret = Type.String({
  minLength: 1,
  maxLength: longestGiven,
  expected: `the signing key of the server, at most ${longestGiven} characters`,
  description: 'The signing key that ZITADEL made; other servers get ours',
});

/** Checks a hook's sender, language and pointers. */
export function checkHook({ from, locale, pointers }: Record<string, unknown>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined) problems.push({ field, message: problem });
  };
  if (typeof from === 'string') add('from', senderProblem(from));
  if (typeof locale === 'string') add('locale', localeProblem(locale));
  if (typeof pointers === 'object' && pointers !== null)
    for (const [name, value] of Object.entries(pointers))
      if (typeof value === 'string' && !isPointer(value)) add(`pointers.${name}`, `must be ${rightPointer}`);
  return problems;
}

/** Requires the key from kinds of servers that make their own, and the pointers for `generic`. */
export function checkNewHook(body: Record<string, unknown>): FieldProblem[] {
  const { kind, secret, pointers } = body;
  const problems = checkHook(body);
  const makesOwn = kind === 'zitadel';
  if (makesOwn && secret == null)
    problems.push({ field: 'secret', message: 'is required: ZITADEL makes the signing key' });
  if (!makesOwn && secret != null)
    problems.push({ field: 'secret', message: 'must be left out: the service makes it' });
  const own = (typeof pointers === 'object' ? pointers : null) as HookPointers | null;
  return isKind(kind) ? [...problems, ...pointerProblems({ kind, pointers: own })] : problems;
}

const isKind = (kind: unknown): kind is HookKind => (hookKinds as readonly unknown[]).includes(kind);

const secretSchema = Type.Object(
  { id: Type.String(), created_at: Type.String(), ends_at: nullable(Type.String()) },
  { title: 'HookSecret' },
);
const settingsSchema = Type.Array(
  Type.Object(
    {
      name: Type.String({ examples: ['GOTRUE_HOOK_SEND_SMS_ENABLED'] }),
      value: Type.String({ examples: ['true'] }),
    },
    { title: 'HookSetting' },
  ),
  { description: 'What to paste at the server' },
);

export const hookSchema = Type.Object(
  {
    id: recordId('hok'),
    kind: kindSchema,
    from: nullable(Type.String()),
    locale: nullable(Type.String()),
    pointers: nullable(pointersSchema),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Hook' },
);
export type HookRecord = Static<typeof hookSchema>;
export const hookDetailSchema = Type.Object(
  {
    ...hookSchema.properties,
    url: Type.String({ description: 'Where the server posts to' }),
    settings: settingsSchema,
    secrets: Type.Array(secretSchema, { description: 'In force now, newest first' }),
  },
  { title: 'HookDetail' },
);
export type HookDetailRecord = Static<typeof hookDetailSchema>;
const shownSecret = nullable(Type.String({ description: 'Shown only once; null if the server made it' }));
export const newHookSchema = Type.Object({ ...hookDetailSchema.properties, secret: shownSecret }, { title: 'NewHook' });
export type NewHookRecord = Static<typeof newHookSchema>;
export const newHookSecretSchema = Type.Object(
  { ...secretSchema.properties, secret: shownSecret, settings: settingsSchema },
  { title: 'NewHookSecret' },
);
export type NewHookSecretRecord = Static<typeof newHookSecretSchema>;
export const callSchema = Type.Object(
  {
    id: Type.String({ description: 'The correlation id of the request' }),
    at: Type.String(),
    outcome: Type.String({
      examples: ['sent'],
      description: 'sent, repeated, blocked, limited, refused, bad_payload, wrong_proof or unavailable',
    }),
    detail: nullable(Type.String({ description: 'What was wrong' })),
    subject: nullable(Type.String({ description: 'The verification or the message' })),
  },
  { title: 'HookCall' },
);
export type HookCallRecord = Static<typeof callSchema>;
export const testSchema = Type.Object(
  { outcome: Type.String({ examples: ['sent'] }), detail: nullable(Type.String()), subject: nullable(Type.String()) },
  { title: 'HookTest' },
);
export type HookTestRecord = Static<typeof testSchema>;

export function toHook({
  id,
  kind,
  from,
  locale,
  pointers,
  createdAtMs,
  updatedAtMs,
}: Hook): Static<typeof hookSchema> {
  const times = { created_at: toTimestamp(createdAtMs), updated_at: toTimestamp(updatedAtMs) };
  return { id, kind, from, locale, pointers, ...times };
}

export function toSecret({ id, createdAtMs, endsAtMs }: HookSecret): Static<typeof secretSchema> {
  return { id, created_at: toTimestamp(createdAtMs), ends_at: timestampOrNull(endsAtMs) };
}

export function toDetail(hook: HookDetail): Static<typeof hookDetailSchema> {
  return { ...toHook(hook), url: hook.url, settings: hook.settings, secrets: hook.secrets.map(toSecret) };
}

export function toCall({ id, atMs, outcome, detail, subject }: HookCall): Static<typeof callSchema> {
  return { id, at: toTimestamp(atMs), outcome, detail, subject };
}

/** Whether the server of this kind makes its own key. */
export const makesOwnKey = (kind: HookKind) => kindRules[kind].proof === 'zitadel';

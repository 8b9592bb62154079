import { Type } from 'typebox';
import { problemsOf } from '../../http/request/validation.ts';
import { type SendingChannel, sendingChannels } from '../../messages/channel.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { isObject } from '../../platform/is-object.ts';
import { type Description, descriptionSchema } from './description.ts';
import { descriptionProblems } from './description-problems.ts';
import {
  type Preset,
  type PresetField,
  type PresetName,
  presetNames,
  presets,
  secretFieldNames,
} from './presets/presets.ts';
import type { HttpProfile } from './profile.ts';

/** Settings of a carrier of kind `http`, with their secrets. A preset's own fields stand beside these. */
export interface HttpSettings {
  preset?: PresetName;
  describe?: Description;
  /** Secrets and other values that `describe` names. */
  secrets?: Record<string, string>;
  values?: Record<string, string>;
  base?: string;
  ca?: string;
  allow_private: boolean;
  per_second: number | null;
  concurrency: number;
  timeout_ms: number;
  /** Absent: `sms` alone. */
  channels?: SendingChannel[];
  receipts: 'all' | 'none';
  on_doubt?: 'resend' | 'hold';
  on_doubt_seconds?: number;
  opt_out_replies: 'own' | 'carrier';
  [field: string]: unknown;
}

const literals = <Name extends string>(names: readonly Name[], options: Record<string, unknown> = {}) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );
const usualLongest = 512;
const name = ({ longest = usualLongest }: PresetField) => Type.Optional(Type.String({ maxLength: longest }));
const named = Type.Record(
  Type.String({ maxLength: 32, pattern: '^[a-z][a-z0-9_]{0,31}$' }),
  Type.String({ maxLength: 4096 }),
  { maxProperties: 16, additionalProperties: false },
);

const common = {
  base: Type.Optional(
    Type.String({ maxLength: 512, description: 'The address of the API, like https://api.example.com' }),
  ),
  ca: Type.Optional(Type.String({ maxLength: 16_384, description: 'PEM' })),
  allow_private: Type.Boolean({
    default: false,
    description: 'Whether addresses inside your network, and http, are allowed',
  }),
  per_second: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }), Type.Null()], {
    default: null,
    description: 'Texts a second of the whole account, over all nodes',
  }),
  concurrency: Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'Requests at once on each node' }),
  timeout_ms: Type.Integer({ minimum: 100, maximum: 60_000, default: 10_000 }),
  channels: Type.Optional(
    Type.Array(literals(sendingChannels), {
      minItems: 1,
      maxItems: sendingChannels.length,
      uniqueItems: true,
      description: 'The channels that the provider offers; a preset sets them',
    }),
  ),
  receipts: literals(['all', 'none'], { default: 'all' }),
  on_doubt: Type.Optional(literals(['resend', 'hold'])),
  on_doubt_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 259_200 })),
  trusted_sender: Type.Optional(
    Type.Boolean({
      description: 'Whether the network guarantees the sender of a text, so that a text can approve a verification',
    }),
  ),
  opt_out_replies: literals(['own', 'carrier'], { default: 'own', description: 'Who confirms a stop word' }),
};

const describedSchema = Type.Object(
  { ...common, describe: Type.Unknown(), secrets: Type.Optional(named), values: Type.Optional(named) },
  { additionalProperties: false },
);

function presetSchema({ fields }: Preset) {
  const own = Object.entries(fields).map(([field, { required = true, choices, longest = usualLongest }]) => {
    const schema = choices === undefined ? Type.String({ minLength: 1, maxLength: longest }) : literals(choices);
    return [field, required ? schema : Type.Optional(schema)] as const;
  });
  return Type.Object(
    { ...common, preset: literals(presetNames), ...Object.fromEntries(own) },
    { additionalProperties: false },
  );
}

const presetSchemas = new Map(presetNames.map((each) => [each, presetSchema(presets[each])]));

/** All settings there may be, for the reference. */
export const httpSettingsSchema = Type.Object({
  preset: Type.Optional(literals(presetNames)),
  describe: Type.Optional(descriptionSchema),
  secrets: Type.Optional(named),
  values: Type.Optional(named),
  ...Object.fromEntries(
    presetNames.flatMap((each) => Object.entries(presets[each].fields).map(([field, about]) => [field, name(about)])),
  ),
  ...common,
});

/** Fills in defaults. `settings` is right only if there are no problems. */
export function checkHttpSettings(given: unknown): { settings: HttpSettings; problems: FieldProblem[] } {
  const settings = withoutShown(given);
  const result = (problems: FieldProblem[]) => ({ settings: settings as HttpSettings, problems });
  if (!isObject(settings)) return result([{ field: 'settings', message: 'must be an object' }]);
  const { preset, describe } = settings;
  if ((preset === undefined) === (describe === undefined))
    return result([
      { field: 'settings.preset', message: `must be one of ${presetNames.join(', ')}; or give describe instead` },
    ]);
  const schema = preset === undefined ? describedSchema : presetSchemas.get(preset as PresetName);
  if (schema === undefined)
    return result([{ field: 'settings.preset', message: `must be one of ${presetNames.join(', ')}` }]);
  const unfit = problemsOf(schema, settings).map(({ field, message }) => ({ field: `settings.${field}`, message }));
  if (unfit.length > 0) return result(unfit);
  const known = preset === undefined ? undefined : presets[preset as PresetName].channels;
  const problem = channelsProblem(settings, preset === undefined, known);
  return result([...problem, ...moreProblems(settings as HttpSettings)]);
}

/** Fills in the channels of a preset: nodes that choose carriers know no presets. */
function channelsProblem(
  settings: Record<string, unknown>,
  isDescribed: boolean,
  known: readonly SendingChannel[] | undefined,
): FieldProblem[] {
  if (isDescribed) return [];
  const wanted = known ?? ['sms'];
  const { channels } = settings;
  if (known === undefined) delete settings.channels;
  else settings.channels = [...known];
  const isRight = channels === undefined || (Array.isArray(channels) && isSame(channels, wanted));
  return isRight
    ? []
    : [{ field: 'settings.channels', message: `must be left out, or ${wanted.join(', ')}: the preset sets it` }];
}

const isSame = (given: unknown[], wanted: readonly string[]) =>
  given.length === wanted.length && wanted.every((channel) => given.includes(channel));

/** One line of ASCII, or a key in PEM, which has several lines. */
const rightSecret = /^(?:[\x20-\x7e]+|-----BEGIN [\x20-\x7e\r\n]+)$/;

/** Rules that the schema cannot express. */
function moreProblems(settings: HttpSettings): FieldProblem[] {
  const { preset, describe, secrets = {}, values = {}, base } = settings;
  const problems: FieldProblem[] = [];
  if (base !== undefined && !/^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/.test(base))
    problems.push({ field: 'settings.base', message: 'must be a URL like https://api.example.com, without a query' });
  const ascii = [...secretsOf(settings)].filter(([, value]) => !rightSecret.test(value));
  problems.push(
    ...ascii.map(([field]) => ({ field: `settings.${field}`, message: 'must have ASCII characters only' })),
  );
  if (preset !== undefined) {
    if (base === undefined && presets[preset].base === undefined)
      problems.push({
        field: 'settings.base',
        message: `is required: ${presets[preset].baseHelp ?? 'the address of the API'}`,
      });
    return [...problems, ...(presets[preset].problems?.(settings) ?? [])];
  }
  const known = { secrets: Object.keys(secrets), values: Object.keys(values) };
  problems.push(...descriptionProblems(describe, 'settings.describe', known));
  const url = typeof describe?.url === 'string' ? describe.url : '';
  if (url.startsWith('{{base}}') && base === undefined)
    problems.push({ field: 'settings.base', message: 'is required: describe.url begins with {{base}}' });
  return problems;
}

/** An operator may send back settings as a read shows them: drops the flags that stand for secrets. */
function withoutShown(given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([field]) => !field.endsWith('_set')));
}

/** The API that the settings describe. */
export function profileOf(settings: HttpSettings): HttpProfile {
  const { preset, describe, secrets = {}, values = {}, base = '' } = settings;
  if (preset === undefined) {
    if (describe === undefined) throw new Error('the settings have neither preset nor describe');
    return { description: describe, base: withoutSlash(base), secrets, values };
  }
  const chosen = presets[preset];
  const own = Object.entries(chosen.fields).flatMap(([field, { secret }]) => {
    const value = settings[field];
    return typeof value === 'string' ? [{ field, value, secret: secret === true }] : [];
  });
  const of = (secret: boolean) =>
    Object.fromEntries(own.filter((each) => each.secret === secret).map(({ field, value }) => [field, value]));
  return {
    description: chosen.describe(settings),
    base: withoutSlash(base || (chosen.base ?? '')),
    secrets: of(true),
    values: of(false),
  };
}

function withoutSlash(base: string): string {
  return base.replace(/\/$/, '');
}

/** The names of the secrets among the settings, and their values; those of `describe` as `secrets.name`. */
export function secretsOf(settings: Record<string, unknown>): Map<string, string> {
  const found = new Map<string, string>();
  for (const field of secretFieldNames) {
    const value = settings[field];
    if (typeof value === 'string') found.set(field, value);
  }
  for (const [each, value] of Object.entries(isObject(settings.secrets) ? settings.secrets : {})) {
    if (typeof value === 'string') found.set(`secrets.${each}`, value);
  }
  return found;
}

/** The URL with the host of every request. */
export function addressOf(settings: HttpSettings): { field: string; url: string }[] {
  const { description, base } = profileOf(settings);
  const urls = [{ field: 'settings.describe.url', url: description.url }];
  if (description.auth?.token_url !== undefined)
    urls.push({ field: 'settings.describe.auth.token_url', url: description.auth.token_url });
  return urls.map(({ field, url }) =>
    url.startsWith('{{base}}')
      ? { field: 'settings.base', url: base }
      : { field, url: url.replace(/^(https?:\/\/[^/?]+).*$/s, '$1') },
  );
}

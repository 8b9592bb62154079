import { longestString } from '../platform/tracing/proto-writer.ts';
import type { TracingSettings } from '../platform/tracing/tracer.ts';
import { type Setting, text } from './kinds.ts';

/** Names that OpenTelemetry gives samplers. `parentbased_…` follows the sampled flag of a caller. */
const samplers = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];
export const samplerNames: readonly SamplerName[] = samplers;

const mostPairs = 64;
const longestList = 16_384;
const ownHeaders = ['host', 'content-length', 'content-type', 'connection', 'transfer-encoding', 'expect', 'upgrade'];

/** `name=value,name=value` with percent-encoded values, as OpenTelemetry writes lists. */
export function pairs(help: string, kind: 'headers' | 'attributes'): Setting<Record<string, string>> {
  return {
    help,
    fallback: '',
    read(given) {
      const entries = given.split(',').filter((entry) => entry.trim() !== '');
      if (given.length > longestList || entries.length > mostPairs)
        throw new Error(`have at most ${mostPairs} entries and ${longestList} characters`);
      return Object.fromEntries(entries.map((entry) => readPair(entry, kind)));
    },
  };
}

function readPair(entry: string, kind: 'headers' | 'attributes'): [name: string, value: string] {
  const at = entry.indexOf('=');
  const name = entry.slice(0, Math.max(0, at)).trim();
  const value = decoded(entry.slice(at + 1).trim());
  // The value may be a secret, so the message repeats the name at most.
  if (!/^[\w.!#$%&'*+^`|~-]{1,128}$/.test(name) || value === undefined)
    throw new Error('be a list like name=value,name=value, with percent-encoded values');
  if (kind === 'headers') {
    if (!/^[\t\x20-\x7e]*$/.test(value)) throw new Error(`give ${name} a value of visible ASCII characters`);
    if (ownHeaders.includes(name.toLowerCase())) throw new Error(`not set ${name}: the exporter sets it`);
    return [name.toLowerCase(), value];
  }
  if (value.length > longestString) throw new Error(`give ${name} a value of at most ${longestString} characters`);
  return [name, value];
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const ratio = {
  ...text(
    'share of traces for traceidratio: 0 to 1',
    '1',
    /^(0(\.\d{1,12})?|1(\.0{1,12})?|\.\d{1,12})$/,
    'be a number from 0 to 1',
  ),
  bounds: '0 to 1',
} satisfies Setting<string>;

export interface GivenTracing {
  endpoint: string | undefined;
  headers: Record<string, string>;
  serviceName: string;
  resource: Record<string, string>;
  sampler: SamplerName;
  ratio: string;
}

/** Undefined without an endpoint: then nothing is made. */
export function tracingOf(given: GivenTracing): TracingSettings | undefined {
  const { endpoint, headers, serviceName, resource, sampler } = given;
  if (endpoint === undefined) return undefined;
  const kind = sampler.replace('parentbased_', '');
  return {
    url: `${endpoint}/v1/traces`,
    headers,
    resource: { ...resource, 'service.name': serviceName },
    sampler: {
      parentBased: sampler.startsWith('parentbased_'),
      ratio: kind === 'always_on' ? 1 : kind === 'always_off' ? 0 : Number(given.ratio),
    },
  };
}

// Tests: test/hooks/servers.test.ts
import type { IncomingHttpHeaders } from 'node:http';
import { keyedHashOfBytes, sameBytes } from '../platform/crypto/secrets.ts';
import { type ProvingSecret, signatureLastsMs } from './hook.ts';
import type { ProofForm } from './kinds.ts';

export interface ProvedCall {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Maximum signatures of a call: one for each secret that the server has. */
const mostSignatures = 10;
const longestHeader = 4096;

/** The keyed hashes of a text, if it can be a bearer secret of ours. */
export type HashesOf = (text: string) => readonly Buffer[];

/** Whether one of the hook's secrets proves the call. */
export function isProved(
  form: ProofForm,
  call: ProvedCall,
  secrets: readonly ProvingSecret[],
  { nowMs, hashesOf }: { nowMs: number; hashesOf: HashesOf },
): boolean {
  const inForce = secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > nowMs);
  switch (form) {
    case 'standard-webhooks':
      return isSigned(standardSignature(call), call.body, inForce, nowMs);
    case 'zitadel':
      return isSigned(zitadelSignature(call), call.body, inForce, nowMs);
    case 'bearer':
      return bearerTexts(call.headers).some((text) =>
        hashesOf(text).some((hash) => inForce.some((secret) => secret.hash !== null && sameBytes(secret.hash, hash))),
      );
  }
}

interface Signature {
  timestampSeconds: number;
  /** The signed text before the body. */
  head: string;
  given: Buffer[];
}

function isSigned(
  signature: Signature | undefined,
  body: Buffer,
  secrets: readonly ProvingSecret[],
  nowMs: number,
): boolean {
  if (signature === undefined) return false;
  const { timestampSeconds, head, given } = signature;
  if (Math.abs(nowMs - timestampSeconds * 1000) > signatureLastsMs) return false;
  return secrets.some(({ key }) => {
    const right = key === null ? undefined : keyedHashOfBytes(key, head, body);
    return right !== undefined && given.some((each) => sameBytes(each, right));
  });
}

/** Standard Webhooks 1.0. Supabase joins several signatures by a comma and a space. */
function standardSignature({ headers }: ProvedCall): Signature | undefined {
  const id = textOf(headers['webhook-id']);
  const timestamp = textOf(headers['webhook-timestamp']);
  const all = textOf(headers['webhook-signature']);
  if (id === undefined || all === undefined || timestamp === undefined || !/^[0-9]{1,12}$/.test(timestamp)) {
    return undefined;
  }
  const given = all
    .split(/[ ,]+/)
    .filter((part) => part !== '' && part !== 'v1')
    .slice(0, mostSignatures)
    .map((part) => Buffer.from(part, 'base64'));
  return { timestampSeconds: Number(timestamp), head: `${id}.${timestamp}.`, given };
}

/** `t=<seconds>,v1=<hex>`, with several v1 for several keys. */
function zitadelSignature({ headers }: ProvedCall): Signature | undefined {
  const parts = (textOf(headers['zitadel-signature']) ?? '').split(',').slice(0, mostSignatures + 1);
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2);
  if (timestamp === undefined || !/^[0-9]{1,12}$/.test(timestamp)) return undefined;
  const given = parts.filter((part) => part.startsWith('v1=')).map((part) => Buffer.from(part.slice(3), 'hex'));
  return { timestampSeconds: Number(timestamp), head: `${timestamp}.`, given };
}

/** The texts that may be the secret: the value itself, a bearer token, either part of Basic, or an apikey header. */
function bearerTexts({ authorization, apikey }: IncomingHttpHeaders): string[] {
  const texts = [textOf(apikey), textOf(authorization)].filter((text) => text !== undefined);
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) texts.push(bearer);
  const basic = /^basic +([A-Za-z0-9+/=_-]{1,1024}) *$/i.exec(authorization ?? '')?.[1];
  if (basic !== undefined) texts.push(...Buffer.from(basic, 'base64').toString().split(':', 2));
  return texts;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' && header.length <= longestHeader ? header : undefined;
}

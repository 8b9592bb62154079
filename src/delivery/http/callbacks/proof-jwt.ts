// Tests: src/delivery/http/callbacks/proofs.test.ts
import { createHash, createHmac } from 'node:crypto';
import { sameBytes } from '../../../platform/crypto/secrets.ts';
import { parseJson } from '../paths.ts';
import { type ProofSettings, usualToleranceSeconds } from './proof-settings.ts';
import { type CallbackRequest, headerOf } from './request.ts';

/** A JWT signed by HS256, whose claims have hashes of the body and of the URL. */
export function verifyJwt(
  request: CallbackRequest,
  { header = 'authorization', tolerance_seconds: tolerance = usualToleranceSeconds }: ProofSettings,
  { secret, nowMs }: { secret: string; nowMs: number },
): boolean {
  const token = headerOf(request, header)?.replace(/^Bearer /i, '');
  const [head = '', claims = '', signature = '', ...more] = token?.split('.') ?? [];
  if (more.length > 0 || algorithmOf(head) !== 'HS256') return false;
  const expected = createHmac('sha256', secret).update(`${head}.${claims}`).digest();
  if (!sameBytes(Buffer.from(signature, 'base64url'), expected)) return false;
  const read = parseJson(Buffer.from(claims, 'base64url').toString('utf8'));
  return (
    typeof read === 'object' && read !== null && fits(request, read as Record<string, unknown>, tolerance * 1000, nowMs)
  );
}

function algorithmOf(head: string): unknown {
  const read = parseJson(Buffer.from(head, 'base64url').toString('utf8'));
  return typeof read === 'object' && read !== null ? (read as { alg?: unknown }).alg : undefined;
}

function fits(
  { body, url }: CallbackRequest,
  { iat, nbf, exp, payload_hash, url_hash }: Record<string, unknown>,
  toleranceMs: number,
  nowMs: number,
): boolean {
  const begins = [iat, nbf].filter((time): time is number => typeof time === 'number');
  // A token without a time could be sent again for ever.
  if (begins.length === 0 && typeof exp !== 'number') return false;
  if (begins.some((time) => Math.abs(nowMs - time * 1000) > toleranceMs)) return false;
  if (typeof exp === 'number' && exp * 1000 + toleranceMs < nowMs) return false;
  if (url_hash !== undefined && url_hash !== sha256(url)) return false;
  // A body that no hash covers may be forged.
  return body.length === 0 ? true : payload_hash === sha256(body);
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

// Tests: test/providers/oauth2.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Exchanged, HttpClient } from './client.ts';
import type { Description } from './description.ts';
import { findText, parseJson } from './paths.ts';
import type { HttpProfile } from './profile.ts';
import { readTemplate, renderTemplate, type TemplateValues } from './template.ts';

/** A token for requests, or the error. No part of a text has been sent at this point. */
export type TokenResult = { token: string } | { kind: 'not_sent'; reason: string };

/** Gets tokens by client credentials (RFC 6749, section 4.4), and keeps each one until a minute before its end. */
export interface TokenSource {
  get(): Promise<TokenResult>;
  /** The provider refused the token. */
  forget(): void;
}

const beforeEndMs = 60_000;
const usualSeconds = 300;
const longestToken = 8192;

export function createTokenSource(
  { description, base, secrets, values }: HttpProfile,
  { client, clock }: { client: Pick<HttpClient, 'send'>; clock: Clock },
): TokenSource | undefined {
  const { auth } = description;
  if (auth?.kind !== 'oauth2') return undefined;
  const request = tokenRequest(auth, { base, secrets, values } as unknown as TemplateValues);
  let known: { token: string; untilMs: number } | undefined;
  let asking: Promise<TokenResult> | undefined;

  async function ask(): Promise<TokenResult> {
    const read = readToken(await client.send(request));
    if ('kind' in read) return read;
    known = { token: read.token, untilMs: clock.steadyMs() + Math.max(1000, read.seconds * 1000 - beforeEndMs) };
    return { token: read.token };
  }

  return {
    async get() {
      if (known !== undefined && clock.steadyMs() < known.untilMs) return { token: known.token };
      // One request, however many texts wait for it.
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    forget() {
      known = undefined;
    },
  };
}

function tokenRequest(auth: NonNullable<Description['auth']>, known: TemplateValues) {
  const read = (text: string | undefined) => renderTemplate(readTemplate(text ?? ''), known) ?? '';
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (auth.scope !== undefined) form.set('scope', read(auth.scope));
  const basic = Buffer.from(`${encodeURIComponent(read(auth.user))}:${encodeURIComponent(read(auth.password))}`);
  return {
    method: 'POST',
    url: read(auth.token_url),
    headers: {
      Accept: 'application/json',
      Authorization: `Basic ${basic.toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: form.toString(),
  } as const;
}

function readToken(exchanged: Exchanged): { token: string; seconds: number } | { kind: 'not_sent'; reason: string } {
  if (exchanged.kind !== 'answer') return { kind: 'not_sent', reason: `No token: ${exchanged.reason}` };
  const { status, body } = exchanged.answer;
  const document = parseJson(body.toString('utf8'));
  const token = findText(document, 'access_token');
  if (status !== 200 || token === undefined || token.length > longestToken)
    return { kind: 'not_sent', reason: `The token endpoint returned no access token (HTTP ${status}).` };
  const seconds = Number(findText(document, 'expires_in') ?? usualSeconds);
  return { token, seconds: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 86_400) : usualSeconds };
}

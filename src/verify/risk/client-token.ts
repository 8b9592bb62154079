// Tests: test/contract/risk.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { GuardedClient } from '../../platform/http-out/client.ts';
import { isObject } from '../../platform/is-object.ts';

export interface ClientCredentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string;
}

export interface ClientToken {
  /**
   * Returns the `Authorization` header; undefined if the token endpoint gave no token. Concurrent callers share one request.
   */
  header(): Promise<string | undefined>;
  /** Forgets a token that the service has refused. */
  drop(): void;
}

/** A new token is requested this long before the old one expires. */
const marginMs = 30_000;
const defaultSeconds = 300;

/** OAuth 2.0 client credentials (RFC 6749, section 4.4), with the secret in the Basic header. */
export function createClientToken(
  { tokenUrl, clientId, clientSecret, scope }: ClientCredentials,
  client: Pick<GuardedClient, 'call'>,
  clock: Pick<Clock, 'steadyMs'>,
): ClientToken {
  let kept: { header: string; untilMs: number } | undefined;
  let asked: Promise<string | undefined> | undefined;
  const basic = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
  };

  async function ask(): Promise<string | undefined> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope }).toString();
    const { statusCode, received } = await client.call({ url: tokenUrl, headers, body });
    if (statusCode !== 200 || received === undefined || received.isCut) return undefined;
    const said = readJson(received.body);
    if (!isObject(said) || typeof said.access_token !== 'string' || !/^[\x21-\x7e]+$/.test(said.access_token))
      return undefined;
    const seconds = typeof said.expires_in === 'number' ? said.expires_in : defaultSeconds;
    const header = `Bearer ${said.access_token}`;
    kept = { header, untilMs: clock.steadyMs() + Math.max(1000, seconds * 1000 - marginMs) };
    return header;
  }

  return {
    async header() {
      if (kept !== undefined && clock.steadyMs() < kept.untilMs) return kept.header;
      asked ??= ask().finally(() => {
        asked = undefined;
      });
      return asked;
    },
    drop() {
      kept = undefined;
    },
  };
}

/** Undefined for what is not JSON. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

import { isObject, toError } from './errors.ts';
import { exchange, requireSuccess, type Wire } from './exchange.ts';
import { retryAfterMs } from './retry.ts';
import type { TokenAnswer } from './tokens.ts';
import { sleep } from './waiting.ts';

export interface ClientCredentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string;
}

/** Requests a token by the client credentials grant. It is safe to repeat. */
export async function requestToken(wire: Wire, credentials: ClientCredentials): Promise<TokenAnswer> {
  for (let retries = 0; ; retries++) {
    try {
      return await askOnce(wire, credentials);
    } catch (error) {
      const waitMs = retryAfterMs({ error, retries, repeatable: true }, Math.random());
      if (waitMs === undefined) throw error;
      await sleep(waitMs, undefined);
    }
  }
}

async function askOnce(wire: Wire, credentials: ClientCredentials): Promise<TokenAnswer> {
  const { tokenUrl, clientId, clientSecret, scope } = credentials;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: `openid ${scope}`,
  });
  const answer = await exchange(wire, tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  });
  const body = requireSuccess(answer);
  if (isObject(body) && isToken(body.access_token) && typeof body.expires_in === 'number') {
    return { access_token: body.access_token, expires_in: body.expires_in };
  }
  throw toError({ ...answer, body: { message: 'The token endpoint returned no token.' } });
}

/** Whether a header can contain the token as it is. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

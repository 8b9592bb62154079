import type { CallingClient } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import type { KnownClientKey, KnownClientKeys } from '../registry/client-keys/known-keys.ts';
import type { CredentialCache } from '../registry/credential-cache.ts';
import type { KnownApplication } from '../registry/directory.ts';
import { findSecret } from '../registry/oauth-client.ts';
import { takeAssertion } from './assertion-store.ts';
import { assertionType, type ClientAssertion, isSignedBy, possibleKeys, readAssertion } from './client-assertion.ts';
import { type OAuthRefusal, oauthError } from './oauth-error.ts';

export interface TokenRequest {
  form: URLSearchParams;
  client: CallingClient;
}

export interface ClientAuthenticationOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  clients: CredentialCache<KnownApplication>;
  clientKeys: CredentialCache<KnownClientKeys>;
  issuer: string;
  /** Called for every secret and every public key that a client used. */
  onSecretUsed: (secretId: string) => void;
}

type ClientCredentials = NonNullable<CallingClient['basic']>;
type Authenticated = KnownApplication | OAuthRefusal;

/** Our secrets are a fifth as long. */
const longestSecret = 256;

/** Longer than a lookup, so that all failures take equally long. */
const failureMs = 25;

const suspended = (what: string) =>
  `The ${what} is suspended, because the service was restored from a backup. Enable it in the portal.`;

/** Finds out which client calls: by its secret, or by an assertion that its private key signed (RFC 7523). */
export function createClientAuthentication(options: ClientAuthenticationOptions) {
  const { database, clock, keys, clients, clientKeys, issuer, onSecretUsed } = options;
  const audiences = [issuer, `${issuer}/protocol/openid-connect/token`];

  /** Returns the client's application, or `invalid_client`: the same response after the same time for every failure. */
  async function authenticate(request: TokenRequest): Promise<Authenticated> {
    const sent = readCredentials(request);
    if ('error' in sent && sent.error !== 'invalid_client') return sent;
    const client = 'error' in sent || 'assertion' in sent ? undefined : wellFormed(sent);
    // The cache may not know a new secret yet, so it can only confirm. On a miss, ask the database.
    const confirmed = client && withSecret(clients.remembered(client.id) ?? null, client.secret);
    if (confirmed !== undefined && !('error' in confirmed)) return confirmed;
    // Start the timer before any lookup, so that the response time does not show which check failed.
    const failureDue = new Promise<void>((due) => setTimeout(due, failureMs).unref());
    const found =
      'assertion' in sent
        ? await byAssertion(sent)
        : client && withSecret(await clients.lookUp(client.id), client.secret);
    if (found !== undefined) return found;
    await failureDue;
    return oauthError('invalid_client');
  }

  function withSecret(application: KnownApplication | null, clientSecret: string): Authenticated | undefined {
    const secret = findSecret(keys, application?.client?.secrets ?? [], clientSecret, clock.nowMs());
    if (application === null || secret === undefined) return undefined;
    // The caller knows the secret, so it may learn why it is refused.
    return secret.suspended ? oauthError('invalid_client', suspended('client secret')) : used(application, secret.id);
  }

  async function byAssertion({ assertion: text, clientId }: SentAssertion): Promise<Authenticated | undefined> {
    const assertion = readAssertion(text, audiences, clock.nowMs());
    if (assertion === undefined || !isClientId(assertion.clientId)) return undefined;
    if (clientId !== undefined && clientId !== assertion.clientId) return undefined;
    const signer = await findSigner(assertion);
    if (signer === undefined) return undefined;
    const { application, key } = signer;
    if (key.suspended) return oauthError('invalid_client', suspended('public key'));
    const isNew = await takeAssertion(database, assertion.id, assertion.expiresAtMs);
    return isNew ? used(application, key.id) : undefined;
  }

  /** The key that signed it. A key that is not remembered yet may be in the database. */
  async function findSigner(assertion: ClientAssertion) {
    const remembered = clientKeys.remembered(assertion.clientId);
    return (
      (await signerIn(remembered, assertion)) ??
      (await signerIn(await clientKeys.lookUp(assertion.clientId), assertion))
    );
  }

  function used(application: KnownApplication, secretId: string): KnownApplication {
    onSecretUsed(secretId);
    return application;
  }

  return { authenticate };
}

async function signerIn(
  known: KnownClientKeys | null | undefined,
  assertion: ClientAssertion,
): Promise<{ application: KnownApplication; key: KnownClientKey } | undefined> {
  if (!known) return undefined;
  const { application, keys } = known;
  for (const key of possibleKeys(assertion, keys)) if (await isSignedBy(assertion, key)) return { application, key };
  return undefined;
}

const isClientId = (text: string) => text.length === 30 && /^cli_[0-9a-z]{26}$/.test(text);

/** Malformed ids and secrets may be 64 KiB of anything, so they are neither looked up nor hashed. */
function wellFormed({ clientId, clientSecret }: ClientCredentials): { id: string; secret: string } | undefined {
  return isClientId(clientId) && clientSecret.length <= longestSecret
    ? { id: clientId, secret: clientSecret }
    : undefined;
}

interface SentAssertion {
  assertion: string;
  clientId: string | undefined;
}

function readCredentials({ form, client }: TokenRequest): ClientCredentials | SentAssertion | OAuthRefusal {
  const clientId = parameter(form, 'client_id');
  const clientSecret = parameter(form, 'client_secret');
  const assertion = parameter(form, 'client_assertion');
  const type = parameter(form, 'client_assertion_type');
  if (client.basic === null) return oauthError('invalid_client');
  if (assertion !== undefined || type !== undefined) {
    if (client.basic !== undefined || clientSecret !== undefined) return oauthError('invalid_request', oneWay);
    return assertion === undefined || type !== assertionType ? oauthError('invalid_client') : { assertion, clientId };
  }
  if (client.basic !== undefined) {
    // A client_id beside Basic is harmless if it names the same client; a second secret never is.
    const both = clientSecret !== undefined || (clientId !== undefined && clientId !== client.basic.clientId);
    return both ? oauthError('invalid_request', oneWay) : client.basic;
  }
  return clientId === undefined || clientSecret === undefined
    ? oauthError('invalid_client')
    : { clientId, clientSecret };
}

const oneWay = 'Send the client credentials in the form, by HTTP Basic or as an assertion, in one way only.';

/** RFC 6749, section 3.2: an empty value counts as absent. */
export function parameter(form: URLSearchParams, name: string): string | undefined {
  return form.get(name) || undefined;
}

import type { Wire } from './exchange.ts';
import { BatchMessages, Messages } from './messages.ts';
import { checkCredential, checkTimeout } from './options.ts';
import { type Proof, Proofs, type VerifyProofOptions } from './proof.ts';
import { readConnection } from './settings.ts';
import { requestToken } from './token-request.ts';
import { Tokens } from './tokens.ts';
import { type Credential, Transport } from './transport.ts';
import { Verifications } from './verifications.ts';

export interface HeliographOptions {
  /**
   * The address of the service, such as `https://sms.example.com`. Without it the client reads HELIOGRAPH_URL,
   * HELIOGRAPH_API_KEY, HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET; with it nothing of the environment.
   */
  baseUrl?: string | undefined;
  /** For `sms`. */
  apiKey?: string | undefined;
  /** For `verify` and `messaging`, with `clientSecret`. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  realm?: string | undefined;
  /** For one attempt; default 30 seconds. */
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
  /** Added to the headers if the platform allows it. */
  userAgent?: string | undefined;
}

/** A client of the service. It manages tokens itself, and retries calls where that is safe. */
export class Heliograph {
  /** The SMS Messaging API, by API key. */
  readonly sms: Messages;
  /** The Messaging API, by token. */
  readonly messaging: BatchMessages;
  /** The Verification API, by token. */
  readonly verify: Verifications;
  readonly #proofs: Proofs;

  constructor(options: HeliographOptions = {}) {
    const { baseUrl, apiKey, clientId, clientSecret, missing } = readConnection(options);
    const send = options.fetch ?? fetch;
    const wire: Wire = {
      fetch: (...given) => send(...given),
      timeoutMs: checkTimeout(options.timeoutMs ?? 30_000),
      userAgent: checkCredential('userAgent', options.userAgent),
    };
    const realmUrl = `${baseUrl}/realms/${encodeURIComponent(options.realm ?? 'heliograph')}`;

    function byToken(scope: string): Transport {
      const tokenUrl = `${realmUrl}/protocol/openid-connect/token`;
      const tokens = new Tokens(async () => {
        if (clientId === undefined || clientSecret === undefined) throw missing('clientId', 'clientSecret');
        return requestToken(wire, { tokenUrl, clientId, clientSecret, scope });
      });
      return new Transport(wire, baseUrl, () => ({ tokens }));
    }

    function byKey(): Credential {
      if (apiKey === undefined) throw missing('apiKey');
      return { apiKey };
    }

    this.sms = new Messages(new Transport(wire, baseUrl, byKey), '/sms/v1');
    this.messaging = new BatchMessages(byToken('messaging:send'), '/messaging/v1');
    this.verify = new Verifications(byToken('verify:manage'));
    this.#proofs = new Proofs(wire, realmUrl);
  }

  /** Checks a proof that a number was verified for your application, and returns its content. */
  verifyProof(proof: string, options: VerifyProofOptions): Promise<Proof> {
    return this.#proofs.verify(proof, options);
  }
}

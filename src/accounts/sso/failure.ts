/** What a sign-in page says when single sign-on did not work. */
export type SsoFault = 'expired' | 'denied' | 'unavailable' | 'failed' | 'mfa' | 'disabled' | 'taken' | 'only';

/** An expected failure: the page shows its fault, and the log its reason. Neither has a token or a claim. */
export class SsoFailure extends Error {
  readonly fault: SsoFault;

  constructor(fault: SsoFault, reason: string) {
    super(reason);
    this.fault = fault;
  }
}

const refusals = ['access_denied', 'login_required', 'consent_required', 'interaction_required'];
const outages = ['server_error', 'temporarily_unavailable'];

/** The fields of openid-client's errors: importing its classes would load it at every start. */
interface LibraryError {
  name?: string;
  code?: string;
  error?: string;
  status?: number;
  cause?: unknown;
}

/** Throws a failure whose fault the sign-in page can show. */
export function toFailure(thrown: unknown): never {
  if (thrown instanceof SsoFailure) throw thrown;
  const error = thrown as LibraryError;
  const reason = [error.name, error.code, error.error, error.status].filter((part) => part !== undefined).join(' ');
  throw new SsoFailure(faultOf(error), reason.slice(0, 200));
}

function faultOf(error: LibraryError): SsoFault {
  if (refusals.includes(error.error ?? '')) return 'denied';
  return isOutage(error) || outages.includes(error.error ?? '') ? 'unavailable' : 'failed';
}

function isOutage({ name, code, status, cause }: LibraryError): boolean {
  if ((status ?? 0) >= 500 || code === 'OAUTH_TIMEOUT') return true;
  if (cause instanceof Response) return cause.status >= 500;
  return name === 'TimeoutError' || (name === 'TypeError' && code === undefined && cause instanceof Error);
}

/** The provider no longer vouches for the person. Our own wrong secret, or an outage, is no such answer. */
export function isRefusal(error: unknown): boolean {
  return (error as LibraryError).error === 'invalid_grant';
}

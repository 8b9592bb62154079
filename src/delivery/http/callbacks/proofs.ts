import { createHash, createHmac, createPublicKey, verify as verifySignature } from 'node:crypto';
import { sameBytes } from '../../../platform/crypto/secrets.ts';
import { verifyJwt } from './proof-jwt.ts';
import { type ProofKind, type ProofSettings, usualToleranceSeconds } from './proof-settings.ts';
import { type CallbackRequest, formOf, headerOf, mediaTypeOf, type Parameters, queryOf } from './request.ts';

export interface ProofContext {
  secret: string;
  nowMs: number;
}

type Check = (request: CallbackRequest, proof: ProofSettings, context: ProofContext) => boolean;

/** Whether a callback is the provider's own: its proof is right, and fresh where the proof has a time. */
export function isProven(
  request: CallbackRequest,
  proof: ProofSettings,
  secrets: Readonly<Record<string, string>>,
  nowMs: number,
): boolean {
  if (proof.kind === 'token') return true;
  const secret = proof.secret !== undefined && Object.hasOwn(secrets, proof.secret) ? secrets[proof.secret] : undefined;
  // No proof can be checked without the secret.
  return secret !== undefined && checks[proof.kind](request, proof, { secret, nowMs });
}

const checks: Record<Exclude<ProofKind, 'token'>, Check> = {
  basic(request, { user = '' }, { secret }) {
    const expected = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
    return isSame(headerOf(request, 'authorization'), expected);
  },

  /** Covers the URL and the sorted parameters of a form. For JSON, the URL holds a hash of the body. */
  'twilio-sha1'(request, _, { secret }) {
    const given = headerOf(request, 'x-twilio-signature');
    const form = formOf(request);
    const query = queryOf(request);
    if (given === undefined || form === undefined || query === undefined) return false;
    const bodyHash = query.find(([name]) => name === 'bodySHA256')?.[1];
    const isForm = mediaTypeOf(request.headers) === 'application/x-www-form-urlencoded';
    if (!isForm && request.body.length > 0) {
      // Anyone can write a body that no hash covers.
      if (bodyHash === undefined || !isSame(createHash('sha256').update(request.body).digest('hex'), bodyHash))
        return false;
    }
    const signed = sortedByName(form)
      .map(([name, value]) => name + value)
      .join('');
    return portVariants(request.url).some((url) =>
      isSame(
        given,
        createHmac('sha1', secret)
          .update(url + signed)
          .digest('base64'),
      ),
    );
  },

  /** Covers the URL without its query, and a nonce. If the stronger V3 signature is present, only that one counts. */
  'plivo-v2'(request, proof, context) {
    const better = [headerOf(request, 'x-plivo-signature-v3'), headerOf(request, 'x-plivo-signature-ma-v3')];
    if (better.some((each) => each !== undefined)) return checks['plivo-v3'](request, proof, context);
    const nonce = headerOf(request, 'x-plivo-signature-v2-nonce');
    const given = [headerOf(request, 'x-plivo-signature-v2'), headerOf(request, 'x-plivo-signature-ma-v2')];
    if (nonce === undefined) return false;
    const signed = `${request.url.split('?', 1)[0]}${nonce}`;
    const expected = createHmac('sha256', context.secret).update(signed).digest('base64');
    return given.some((each) => isSame(each, expected));
  },

  /**
   * Covers the URL with its sorted query, the sorted parameters of a form, and the nonce. There may be several signatures.
   */
  'plivo-v3'(request, _, { secret }) {
    const nonce = headerOf(request, 'x-plivo-signature-v3-nonce');
    const given = [headerOf(request, 'x-plivo-signature-v3'), headerOf(request, 'x-plivo-signature-ma-v3')]
      .filter((each) => each !== undefined)
      .flatMap((each) => each.split(',', 10).map((one) => one.trim()));
    const [query, form] = [queryOf(request), formOf(request)];
    if (nonce === undefined || query === undefined || form === undefined) return false;
    if (form.length === 0 && request.body.length > 0) return false;
    const base = request.url.split('?', 1)[0] ?? '';
    const inQuery = sortedByName(query)
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
    const inForm = sortedByName(form)
      .map(([name, value]) => name + value)
      .join('');
    const mark = inQuery !== '' || form.length > 0 ? '?' : '';
    const dot = inQuery !== '' && form.length > 0 ? '.' : '';
    const signed = `${base}${mark}${inQuery}${dot}${inForm}.${nonce}`;
    const expected = createHmac('sha256', secret).update(signed).digest('base64');
    return given.some((each) => isSame(each, expected));
  },

  /** Covers `<time>|<body>`. The secret is a raw public key in base64. */
  'ed25519-ts'(request, { header = '', timestamp = '', tolerance_seconds: tolerance }, { secret, nowMs }) {
    const [signature, time] = [headerOf(request, header), headerOf(request, timestamp)];
    if (signature === undefined || time === undefined || !isFresh(time, tolerance, nowMs)) return false;
    const key = Buffer.from(secret, 'base64');
    const given = Buffer.from(signature, 'base64');
    if (key.length !== 32 || given.length !== 64) return false;
    const publicKey = createPublicKey({ key: Buffer.concat([spkiPrefix, key]), format: 'der', type: 'spki' });
    return verifySignature(null, Buffer.concat([Buffer.from(`${time}|`), request.body]), publicKey, given);
  },

  hmac(request, proof, { secret, nowMs }) {
    const { header = '', timestamp, nonce, signed = '', algorithm = 'sha256', encoding = 'base64' } = proof;
    const time = timestamp === undefined ? undefined : headerOf(request, timestamp);
    const once = nonce === undefined ? undefined : headerOf(request, nonce);
    const given = headerOf(request, header);
    if (given === undefined || (timestamp !== undefined && time === undefined)) return false;
    if (nonce !== undefined && once === undefined) return false;
    if (time !== undefined && !isFresh(time, proof.tolerance_seconds, nowMs)) return false;
    const hmac = createHmac(algorithm === 'hash-md5' ? 'md5' : algorithm, secret);
    for (const piece of signed.split(/(\{\{[a-z0-9]+\}\})/)) {
      if (piece === '{{timestamp}}') hmac.update(time ?? '');
      else if (piece === '{{nonce}}') hmac.update(once ?? '');
      else if (piece === '{{url}}') hmac.update(request.url);
      else if (piece === '{{body}}') hmac.update(request.body);
      else if (piece === '{{sha256}}') hmac.update(createHash('sha256').update(request.body).digest());
      else hmac.update(piece);
    }
    return isSame(given.replace(/^[a-z0-9]+=/, ''), hmac.digest(encoding));
  },

  'jwt-hs256': verifyJwt,

  /** Covers `&name=value` of all parameters but `sig`, sorted. One of them is the time. */
  'params-md5'(request, { algorithm = 'hash-md5', tolerance_seconds: tolerance }, { secret, nowMs }) {
    const parameters = paramsOf(request);
    const given = parameters?.find(([name]) => name === 'sig')?.[1];
    const time = parameters?.find(([name]) => name === 'timestamp')?.[1];
    if (parameters === undefined || given === undefined || time === undefined || !isFresh(time, tolerance, nowMs))
      return false;
    const signed = sortedByName(parameters.filter(([name]) => name !== 'sig'))
      .map(([name, value]) => `&${name}=${value.replaceAll(/[&=]/g, '_')}`)
      .join('');
    const expected =
      algorithm === 'hash-md5'
        ? createHash('md5')
            .update(signed + secret)
            .digest('hex')
        : createHmac(algorithm, secret).update(signed).digest('hex');
    return isSame(given.toLowerCase(), expected);
  },
};

/** The DER of an Ed25519 public key before its 32 octets (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** A time in seconds since 1970, not too far from now in either direction. */
function isFresh(time: string, toleranceSeconds = usualToleranceSeconds, nowMs: number): boolean {
  return /^\d{9,11}$/.test(time) && Math.abs(nowMs - Number(time) * 1000) <= toleranceSeconds * 1000;
}

/** Compares in constant time. */
export function isSame(given: string | undefined, expected: string): boolean {
  return given !== undefined && sameBytes(Buffer.from(given), Buffer.from(expected));
}

/** Sorts by name, then by value, and removes duplicates. */
function sortedByName(parameters: Parameters): Parameters {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const seen = new Map(parameters.map((each) => [JSON.stringify(each), each]));
  return [...seen.values()].sort(([a, one], [b, two]) => compare(a, b) || compare(one, two));
}

/** Twilio signs the URL with or without a port that the scheme implies. */
function portVariants(url: string): string[] {
  const [, scheme = '', host = '', rest = ''] = /^(https?):\/\/([^/?]+)(.*)$/s.exec(url) ?? [];
  const port = scheme === 'https' ? 443 : 80;
  if (host.endsWith(`:${port}`)) return [url, `${scheme}://${host.slice(0, -`:${port}`.length)}${rest}`];
  return /:\d+$/.test(host) ? [url] : [url, `${scheme}://${host}:${port}${rest}`];
}

/** Vonage sends the same parameters in a query, in a form, or as JSON. */
function paramsOf(request: CallbackRequest): Parameters | undefined {
  if (request.method === 'GET') return queryOf(request);
  const form = formOf(request);
  if (form === undefined || form.length > 0) return form;
  try {
    const json: unknown = JSON.parse(request.body.toString('utf8'));
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
    return Object.entries(json).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
  } catch {
    return undefined;
  }
}

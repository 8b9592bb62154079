import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A certificate for tests, with its key, as PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

export interface CertificateOptions {
  /** Also its name for TLS, unless it is a CA. */
  name: string;
  /** Signs it; without one it signs itself. */
  issuer?: TestCertificate & { name: string };
  isCa?: boolean;
  notAfter?: Date;
}

const firstSerial = 2 ** 30;
let made = 0;

/** Makes an X.509 certificate (RFC 5280) with a new P-256 key: Node can read them, but not make them. */
export function createCertificate(options: CertificateOptions): TestCertificate & { name: string } {
  const { name, issuer, isCa = false, notAfter = new Date(Date.now() + 86_400_000) } = options;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const body = sequence(
    tagged(0, integer(2)),
    integer(firstSerial + made++),
    ecdsaWithSha256,
    nameOf(issuer?.name ?? name),
    sequence(time(new Date(notAfter.getTime() - 30 * 86_400_000)), time(notAfter)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions(name, isCa))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, signer)));
  return { name, cert: pem('CERTIFICATE', certificate), key: keyPem(privateKey) };
}

function extensions(name: string, isCa: boolean): Buffer[] {
  const basicConstraints = sequence(oid('551d13'), der(4, sequence(...(isCa ? [der(1, Buffer.from([255]))] : []))));
  // Context tag 2 is a DNS name.
  const subjectNames = sequence(oid('551d11'), der(4, sequence(der(0x82, Buffer.from(name)))));
  return isCa ? [basicConstraints] : [basicConstraints, subjectNames];
}

const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'));
const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const tagged = (tag: number, part: Buffer) => der(0xa0 + tag, part);
const bits = (octets: Buffer) => der(3, Buffer.concat([Buffer.from([0]), octets]));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

/** DER allows no needless zeros: our serial numbers have four octets, the version one. */
function integer(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return der(2, value < 128 ? octets.subarray(3) : octets);
}

function nameOf(name: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(12, Buffer.from(name)))));
}

/** GeneralizedTime. */
function time(date: Date): Buffer {
  return der(24, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function pem(label: string, octets: Buffer): string {
  const lines = octets.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

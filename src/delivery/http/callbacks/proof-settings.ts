import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../../../platform/errors.ts';

/** How a provider proves that a callback is its own. */
export const proofKinds = [
  'token',
  'basic',
  'twilio-sha1',
  'plivo-v2',
  'plivo-v3',
  'ed25519-ts',
  'hmac',
  'jwt-hs256',
  'params-md5',
] as const;
export type ProofKind = (typeof proofKinds)[number];

const text = (maxLength = 128) => Type.Optional(Type.String({ maxLength }));
const literals = <Name extends string>(names: readonly Name[]) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { expected: `one of ${names.join(', ')}` },
    ),
  );

export const proofSchema = Type.Object(
  {
    kind: literals(proofKinds),
    /** The name of the secret, among `secrets`. */
    secret: text(64),
    /** The user name of Basic authentication. */
    user: text(),
    /** The names of the headers that hold the signature, its time and its nonce. */
    header: text(64),
    timestamp: text(64),
    nonce: text(64),
    algorithm: Type.Optional(literals(['md5', 'sha1', 'sha256', 'sha512', 'hash-md5'])),
    encoding: Type.Optional(literals(['base64', 'hex'])),
    /**
     * For `hmac`: the signed text, made of {{timestamp}}, {{nonce}}, {{url}}, {{body}} and {{sha256}} (of the body,
     * raw).
     */
    signed: text(256),
    tolerance_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  },
  { additionalProperties: false },
);

export type ProofSettings = Static<typeof proofSchema>;

/** Proofs that do not cover the body: then a callback must match our id and the number. */
export function leavesBodyOpen({ kind }: ProofSettings): boolean {
  return kind === 'token' || kind === 'basic' || kind === 'plivo-v2';
}

/**
 * A text from a phone can opt a person in or out, and matches no record of ours. So Plivo's proof that leaves
 * out the body does not count for it, even where an older description names that proof.
 */
export function inboundProof(proof: ProofSettings): ProofSettings {
  return proof.kind === 'plivo-v2' ? { ...proof, kind: 'plivo-v3' } : proof;
}

/** Five minutes, as most providers recommend. */
export const usualToleranceSeconds = 300;

const needed: Record<ProofKind, readonly (keyof ProofSettings)[]> = {
  token: [],
  basic: ['user', 'secret'],
  'twilio-sha1': ['secret'],
  'plivo-v2': ['secret'],
  'plivo-v3': ['secret'],
  'ed25519-ts': ['secret', 'header', 'timestamp'],
  hmac: ['secret', 'header', 'signed'],
  'jwt-hs256': ['secret'],
  'params-md5': ['secret'],
};

const signedNames = ['timestamp', 'nonce', 'url', 'body', 'sha256'];

export function proofProblems(
  proof: ProofSettings | undefined,
  field: string,
  { secrets, values }: { secrets: readonly string[]; values: readonly string[] },
): FieldProblem[] {
  if (proof === undefined) return [];
  const problems: FieldProblem[] = needed[proof.kind]
    .filter((name) => proof[name] === undefined)
    .map((name) => ({ field: `${field}.${name}`, message: `is required for ${proof.kind}` }));
  if (proof.secret !== undefined && !secrets.includes(proof.secret) && !values.includes(proof.secret))
    problems.push({
      field: `${field}.secret`,
      message: 'must be the name of an entry in secrets, or in values for a public key',
    });
  const { signed } = proof;
  if (signed !== undefined) {
    const named = [...signed.matchAll(/\{\{([^{}]{0,32})\}\}/g)].map(([, name = '']) => name);
    if (named.some((name) => !signedNames.includes(name)) || !(named.includes('body') || named.includes('sha256')))
      problems.push({
        field: `${field}.signed`,
        message: `must contain {{body}} or {{sha256}}, and no other names than ${signedNames.join(', ')}`,
      });
    if (named.includes('timestamp') && proof.timestamp === undefined)
      problems.push({ field: `${field}.timestamp`, message: 'is required: the name of the header with the timestamp' });
    if (named.includes('nonce') && proof.nonce === undefined)
      problems.push({ field: `${field}.nonce`, message: 'is required: the name of the header with the nonce' });
  }
  return problems;
}

/** The identity servers that can post to us. Those after `generic` are `generic` with pointers of their own. */
export const hookKinds = [
  'supabase',
  'logto',
  'zitadel',
  'authentik',
  'generic',
  'kratos',
  'auth0',
  'keycloak',
] as const;
export type HookKind = (typeof hookKinds)[number];

/** The JSON pointers (RFC 6901) to the fields that we need in a payload. */
export interface HookPointers {
  to?: string;
  code?: string;
  text?: string;
  locale?: string;
  ip?: string;
}

export const pointerNames = ['to', 'code', 'text', 'locale', 'ip'] as const;

export interface Hook {
  id: string;
  applicationId: string;
  kind: HookKind;
  /** The sender of texts without a code. */
  from: string | null;
  /** The language of its texts, unless a payload names one. */
  locale: string | null;
  /** Null if the pointers of its kind apply. */
  pointers: HookPointers | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A secret as it is listed, without its value. */
export interface HookSecret {
  id: string;
  createdAtMs: number;
  endsAtMs: number | null;
}

/** What calls are checked with: the key that signs, or the keyed hash of a bearer secret. */
export interface ProvingSecret {
  endsAtMs: number | null;
  key: Buffer | null;
  hash: Buffer | null;
}

/** Maximum hooks per application. The next line: maximum valid secrets per hook. */
export const mostHooks = 10;
export const mostSecrets = 5;
/** A signature whose time differs from now by more than this is refused. */
export const signatureLastsMs = 5 * 60_000;
/** Long enough for the metadata of users that Supabase sends along. */
export const longestPayload = 256 * 1024;

/** The outcome of a call. */
export type CallOutcome =
  | 'sent'
  | 'repeated'
  | 'blocked'
  | 'limited'
  | 'refused'
  | 'bad_payload'
  | 'wrong_proof'
  | 'unavailable';

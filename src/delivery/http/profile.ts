import type { Description } from './description.ts';

/** The URLs that a provider reports to. */
export interface CallbackUrls {
  receipts: string;
  inbound: string;
}

/** A provider's API, from a preset or from an operator's own description. */
export interface HttpProfile {
  description: Description;
  /** The base URL without a slash at its end. */
  base: string;
  secrets: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string>>;
}

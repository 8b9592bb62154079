import type { Description } from './description.ts';

/** Where a provider reports to this carrier. */
export interface CallbackUrls {
  receipts: string;
  inbound: string;
}

/** A provider's API as a carrier uses it: a preset and an operator's own description come to the same. */
export interface HttpProfile {
  description: Description;
  /** Without a slash at its end. */
  base: string;
  secrets: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string>>;
}

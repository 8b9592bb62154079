import type { SendingChannel } from '../../../messages/channel.ts';
import type { FieldProblem } from '../../../platform/errors.ts';
import type { Description } from '../description.ts';

/** A setting of a preset, by the provider's name for it. */
export interface PresetField {
  /** Sealed, and never shown. A field of the same name is a secret in every preset, or in none. */
  secret?: true;
  /** True unless said otherwise. */
  required?: boolean;
  choices?: readonly string[];
  /** Characters; 512 unless said otherwise. */
  longest?: number;
  help: string;
}

/** A provider whose API we know. Its description is the same data that an operator may write. */
export interface Preset {
  /** The name as the provider writes it. */
  title: string;
  fields: Record<string, PresetField>;
  /** Absent: `sms` alone. */
  channels?: readonly SendingChannel[];
  /** The base URL; undefined if each account has its own. */
  base?: string;
  baseHelp?: string;
  describe(settings: Record<string, unknown>): Description;
  problems?(settings: Record<string, unknown>): FieldProblem[];
  /** The fields that name the account: with another value, receipts of the old one match nothing. */
  account: readonly string[];
}

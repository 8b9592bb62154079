import type { BlockList } from 'node:net';
import type { KnownCaller } from '../http/admission.ts';

/** The name, limits and addresses with which an application's programs bind. */
export interface SmppAccount {
  id: string;
  applicationId: string;
  systemId: string;
  /** How many binds it may have at a time. */
  binds: number;
  /** CIDRs that it may bind from; empty for anywhere. */
  addresses: string[];
  createdAtMs: number;
}

export interface SmppPassword {
  id: string;
  createdAtMs: number;
  /** When the password stops working after a rotation; null for the newest one. */
  endsAtMs: number | null;
}

/** An account whose password was right, as this node remembers it. */
export interface KnownAccount {
  account: SmppAccount;
  allowed: BlockList | undefined;
  known: KnownCaller;
}

export const [fewestBinds, mostBinds] = [1, 50];
export const mostAccounts = 20;
export const mostAddresses = 50;
/** During overlaps there may be several. */
export const mostPasswords = 5;

/** Append only: the store writes a mode as its index in this list. */
export const bindModes = ['receiver', 'transmitter', 'transceiver'] as const;
export type BindMode = (typeof bindModes)[number];

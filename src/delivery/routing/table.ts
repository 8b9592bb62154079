import type { Api } from '../../http/route.ts';
import type { SendingChannel } from '../../messages/channel.ts';
import type { RouteHours } from './hours.ts';

/** A rule of the table: the texts that it matches, and the carriers that take them. */
export interface RouteRule {
  name: string;
  match: {
    countries?: string[];
    prefixes?: string[];
    apis?: Api[];
    channels?: SendingChannel[];
    applications?: string[];
    senders?: string[];
  };
  carriers: { carrier: string; weight: number }[];
  /** In this order, when none of `carriers` can send. */
  failover: string[];
  /** Whether texts other than codes may go to `failover` too, and how many of them. */
  failover_bulk: false | { per_minute: number };
  /** The sender that replaces the caller's. */
  from: string | null;
  hours: RouteHours | null;
}

/** The first rule that matches counts. Version 0 is the empty table that every installation begins with. */
export interface RouteTable {
  version: number;
  routes: RouteRule[];
}

export const emptyTable: RouteTable = { version: 0, routes: [] };

import { type Api, apiNames } from '../../http/route.ts';
import { laneNames } from '../../messages/message.ts';
import { nameOf, toIdRange } from '../../messages/message-row.ts';
import { isInRange } from '../../messages/message-store.ts';
import type { RoutingGiven } from '../../messages/text/text-route.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';

/** The stored routing decision of a text. */
export interface RoutedText {
  id: string;
  applicationId: string;
  api: Api;
  /** Masked after the retention time. */
  to: string;
  from: string;
  urgent: boolean;
  createdAtMs: number;
  /** The carrier that has the text now; it may have moved. */
  carrier: string;
  sentAs: string | null;
  deferredUntilMs: number | null;
  routeVersion: number | null;
  routeRule: number | null;
  given: RoutingGiven;
}

interface Row extends Omit<RoutedText, 'id' | 'applicationId' | 'api' | 'urgent' | 'given'> {
  applicationId: string;
  api: number;
  lane: number;
  given: RoutingGiven | null;
}

export async function findRoutedText(tx: Tx, id: string): Promise<RoutedText | undefined> {
  const { rows } = await tx.query<Row>(selectStatement, toIdRange([id]));
  const [row] = rows;
  if (row === undefined) return undefined;
  const { applicationId, api, lane, given, ...rest } = row;
  return {
    ...rest,
    id,
    applicationId: fromUuid('app', applicationId),
    api: nameOf(apiNames, api),
    urgent: nameOf(laneNames, lane) === 'first',
    given: given ?? {},
  };
}

const selectStatement = `select application_id as "applicationId", api, lane, recipient as "to", sender as "from",
    created_at as "createdAtMs", carrier, sent_as as "sentAs", deferred_until as "deferredUntilMs",
    route_version as "routeVersion", route_rule as "routeRule", route_given as given
  from message where ${isInRange(1)}`;

/** What routing looks at. There are no rules yet, so every number has the same carriers. */
export interface RouteFacts {
  to: string;
}

export interface RoutableCarrier {
  key: string;
  name: string;
  paused: boolean;
  /** It can send now. */
  up: boolean;
}

export interface RoutedCarrier<Carrier> {
  carrier: Carrier;
  /** Why it stands where it does. */
  reason: string;
}

const reasons = ['It is up.', 'It is down: texts wait in its queue.', 'It is paused: texts wait in its queue.'];

/** The carriers for a text, the best first: by name, those that are up before those that are down or paused. */
export function route<Carrier extends RoutableCarrier>(
  _facts: RouteFacts,
  carriers: readonly Carrier[],
): RoutedCarrier<Carrier>[] {
  return carriers
    .map((carrier) => ({ carrier, rank: rankOf(carrier) }))
    .sort((a, b) => a.rank - b.rank || (a.carrier.name < b.carrier.name ? -1 : 1))
    .map(({ carrier, rank }) => ({ carrier, reason: reasons[rank] ?? '' }));
}

function rankOf({ up, paused }: RoutableCarrier): number {
  if (paused) return 2;
  return up ? 0 : 1;
}

import type { Admission, Arrival, Gate } from '../http/gate.ts';
import { refuseMetrics } from './metrics-access.ts';

export interface GatewayOptions {
  metricsToken: string | undefined;
}

/** The line every request goes along before anything behind it runs. */
export function createGateway({ metricsToken }: GatewayOptions): Gate {
  return {
    admit(arrival: Arrival): Admission {
      const admission: Admission = { caller: { kind: 'anonymous' }, limitHeaders: {} };
      if (arrival.route?.auth && [arrival.route.auth].flat().some(({ kind }) => kind === 'metrics')) {
        const refusal = refuseMetrics(metricsToken, arrival.headers.authorization, arrival.address);
        if (refusal !== undefined) return { ...admission, refusal };
      }
      return admission;
    },
    headersForUnreadable: () => ({}),
  };
}

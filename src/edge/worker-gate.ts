import type { Gate } from '../http/gate.ts';
import { unavailable } from '../platform/errors.ts';

const answered = ['/healthz', '/readyz', '/metrics'];

/**
 * The gate of a worker node, which answers only health checks and metrics. Other requests get a 503, which a balancer
 * may retry elsewhere; a 404 would claim that the resource does not exist.
 */
export function createWorkerGate(gate: Gate): Gate {
  return {
    ...gate,
    async admit(arrival) {
      if (answered.includes(arrival.path)) return gate.admit(arrival);
      const { correlationId, method, headers, address, informedAtMs } = arrival;
      const repeats = (name: string) => arrival.repeats(name);
      const nobody = await gate.admit({
        correlationId,
        method,
        headers,
        address,
        informedAtMs,
        repeats,
        route: undefined,
        path: '/',
      });
      return { ...nobody, refusal: unavailable('This node only delivers texts. Send requests to a web node.') };
    },
  };
}

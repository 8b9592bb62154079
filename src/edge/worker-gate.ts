import type { Gate } from '../http/gate.ts';
import { unavailable } from '../platform/errors.ts';

const answered = ['/healthz', '/readyz', '/metrics'];

/**
 * In front of a node that only delivers. It answers for its own health; whatever else a balancer sends it by mistake is a
 * 503, which says nothing about the thing asked for and can be tried elsewhere. A 404 would claim that it is not there.
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
      return { ...nobody, refusal: unavailable('This node delivers texts and answers no requests.') };
    },
  };
}

import type { Gateway } from '../http/admission.ts';
import { unavailable } from '../platform/errors.ts';
import { anonymous, refused, whenDecided } from './admit-or-refuse.ts';

const answered = ['/healthz', '/readyz', '/metrics'];

/**
 * The gateway of a worker node, which answers only health checks and metrics. Other requests get a 503, which a balancer
 * may retry elsewhere; a 404 would claim that the resource does not exist.
 */
export function createWorkerGateway(gateway: Gateway): Gateway {
  return {
    admit(arrival) {
      if (answered.includes(arrival.path)) return gateway.admit(arrival);
      const refusal = unavailable('This node only delivers texts. Send requests to a web node.');
      return whenDecided(gateway.peek(arrival.address), (standing) => refused(anonymous, standing, refusal));
    },
    giveBack: gateway.giveBack,
    peek: gateway.peek,
  };
}

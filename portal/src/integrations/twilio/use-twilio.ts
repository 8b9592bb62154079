import { applicationPath } from '../../api/call.ts';
import type { TwilioAccount } from '../../api/types.ts';
import { type Loaded, useLoad } from '../../session/use-load.ts';

/** The credentials of an application; null if there are none. */
export function useTwilio(applicationId: string): Loaded<TwilioAccount | null> {
  const { data, problem, reload } = useLoad<TwilioAccount>(twilioPath(applicationId));
  return problem?.status === 404 ? { data: null, problem: undefined, reload } : { data, problem, reload };
}

export const twilioPath = (applicationId: string) => applicationPath(applicationId, '/twilio');

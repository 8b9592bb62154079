import { applicationPath, withQuery } from '../api/call.ts';
import type { InboundText } from '../api/operator-types.ts';
import type { Page } from '../api/types.ts';
import { useLoad } from '../session/use-load.ts';

const shown = 100;
const refreshMs = 5000;

/** The replies of a virtual phone to the application. */
export function useReplies(applicationId: string, number: string): { replies: InboundText[]; reload: () => void } {
  const path = withQuery(applicationPath(applicationId, '/inbound'), { from: number, limit: shown });
  const { data, reload } = useLoad<Page<InboundText>>(path, refreshMs);
  // The previous number's list stays until the new one arrives.
  return { replies: data?.data.filter(({ from }) => from === number) ?? [], reload };
}

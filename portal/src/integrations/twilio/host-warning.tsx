import { Callout } from '../../parts/notice/callout.tsx';
import { words } from '../../words/integrations.tsx';
import { hostOfTwilioNode } from './node-host.ts';

/** Shown where twilio-node would call a host other than the service, and so reveal the token to it. */
export function HostWarning({ baseUrl }: { baseUrl: string }) {
  const { hostname } = new URL(baseUrl);
  const other = hostOfTwilioNode(hostname);
  if (other === hostname) return null;
  return (
    <Callout tone="bad" quiet title={words.twilio.host.title}>
      {words.twilio.host.text(hostname, other)}
    </Callout>
  );
}

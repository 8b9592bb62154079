import { words } from '../../words/sso.ts';
import { Callout } from './callout.tsx';

/** Why single sign-on did not work, as the address of the page says. */
export function SsoFault({ fault }: { fault: string }) {
  const said = words.faults[fault];
  if (said === undefined) return null;
  return (
    <Callout tone="bad" title={said.title}>
      {said.text}
    </Callout>
  );
}

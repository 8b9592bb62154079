import { words } from '../../words/sso.ts';
import { Callout } from './callout.tsx';

/** Why single sign-on did not work, as the address of the page says. `only`: passwords open nothing. */
export function SsoFault({ fault, only = false }: { fault: string; only?: boolean }) {
  const said = words.faults[only && fault === 'unavailable' ? 'unavailableOnly' : fault];
  if (said === undefined) return null;
  return (
    <Callout tone="bad" title={said.title}>
      {said.text}
    </Callout>
  );
}

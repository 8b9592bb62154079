import { Text } from '@mantine/core';
import { Panel } from '../parts/panel.tsx';
import { words } from '../words/sso.ts';
import { words as visitorWords } from '../words/visitor.tsx';
import { SsoButton } from './sso-button.tsx';

/** The sign-in where single sign-on is the only way in. `titled` is for pages without a title of their own. */
export function SsoPanel({ issuer, titled = false }: { issuer: string; titled?: boolean }) {
  return (
    <Panel {...(titled && { title: visitorWords.signIn.title })}>
      <Text mb="md">{words.onlyLead}</Text>
      <SsoButton issuer={issuer} />
    </Panel>
  );
}

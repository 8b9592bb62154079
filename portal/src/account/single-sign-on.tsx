import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { SsoFault } from '../parts/notice/sso-fault.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/sso.ts';
import { PasswordForm } from './password-form.tsx';

const words = allWords.join;

/** Joins the account to an identity at the provider. `outcome` is what the way back from there says. */
export function SingleSignOn({ account, outcome }: { account: Account; outcome: string }) {
  const { service } = useSession();
  const [asking, setAsking] = useState(false);
  if (account.sso === null || service.sso === null) return null;
  const { joined, session } = account.sso;

  async function join(password: string): Promise<void> {
    const body = { current_password: password };
    const { url } = await call<{ url: string }>('POST', '/portal/v1/me/sso', { body });
    location.assign(url);
  }

  return (
    <Panel title={words.title} lead={words.lead(new URL(service.sso.issuer).host)}>
      <Stack>
        {outcome === 'joined' && (
          <Callout tone="good" title={words.done}>
            {words.doneText}
          </Callout>
        )}
        <SsoFault fault={outcome} />
        {joined && <Text>{session ? words.joinedBySession : words.joined}</Text>}
        {!joined && !asking && (
          <div>
            <Button variant="default" onClick={() => setAsking(true)}>
              {words.begin}
            </Button>
          </div>
        )}
        {!joined && asking && <PasswordForm label={words.submit} act={join} onCancel={() => setAsking(false)} />}
      </Stack>
    </Panel>
  );
}

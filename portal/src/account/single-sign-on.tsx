import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { SsoFault } from '../parts/notice/sso-fault.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/sso.ts';
import { PasswordForm } from './password-form.tsx';

const words = allWords.join;

/** Joins the account to an identity at the provider. `outcome`: the result, after the provider has sent the browser back. */
export function SingleSignOn({ account, outcome }: { account: Account; outcome: string }) {
  const { service, refresh } = useSession();
  const showToast = useToast();
  const [asking, setAsking] = useState(false);
  if (account.sso === null || service.sso === null) return null;
  const { joined, session } = account.sso;

  async function join(password: string): Promise<void> {
    const body = { current_password: password };
    const { url } = await call<{ url: string }>('POST', '/portal/v1/me/sso', { body });
    location.assign(url);
  }

  /** This ends the session if single sign-on opened it: `refresh` then shows the sign-in page. */
  async function leave(password: string): Promise<void> {
    await call('POST', '/portal/v1/me/sso/leave', { body: { current_password: password } });
    setAsking(false);
    showToast(words.left);
    await refresh();
  }
  // A person without a password could no longer sign in.
  const canLeave = joined && account.has_password && !service.sso.only;

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
        {(!joined || canLeave) && !asking && (
          <div>
            <Button variant="default" onClick={() => setAsking(true)}>
              {joined ? words.leave : words.begin}
            </Button>
          </div>
        )}
        {!joined && asking && <PasswordForm label={words.submit} act={join} onCancel={() => setAsking(false)} />}
        {canLeave && asking && (
          <>
            <Text>{words.effect}</Text>
            <PasswordForm label={words.leave} act={leave} onCancel={() => setAsking(false)} />
          </>
        )}
      </Stack>
    </Panel>
  );
}

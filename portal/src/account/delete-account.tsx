import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/account.ts';
import { PasswordForm } from './password-form.tsx';

export function DeleteAccount({ account }: { account: Account }) {
  const { forget } = useSession();
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState(false);

  async function remove(password: string): Promise<void> {
    await call('POST', '/portal/v1/me/delete', { body: { current_password: password } });
    forget();
    navigate('/');
  }

  return (
    <Panel title={words.remove.title} lead={words.remove.lead(account.email)}>
      {asking ? (
        <PasswordForm label={words.remove.confirm} act={remove} onCancel={() => setAsking(false)} />
      ) : (
        <Button variant="default" c="var(--bad)" onClick={() => setAsking(true)}>
          {words.remove.title}
        </Button>
      )}
    </Panel>
  );
}

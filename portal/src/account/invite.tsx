import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import type { NewInvitation, Role } from '../api/types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/account.ts';
import styles from './account.module.css';
import { roleOptions } from './role-options.ts';

export function Invite({ onInvited }: { onInvited: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const [made, setMade] = useState<NewInvitation | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    setMade(await call<NewInvitation>('POST', '/portal/v1/members/invitations', { body: { email, role } }));
    setEmail('');
    onInvited();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <div className={styles.invite}>
          <TextInput
            label={words.invite.email}
            type="email"
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={problem?.of('email')}
          />
          <NativeSelect
            label={words.invite.role}
            data={roleOptions}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as Role)}
          />
          <Button type="submit" loading={busy}>
            {words.invite.submit}
          </Button>
        </div>
        <ProblemCallout problem={problem} fields={['email']} />
        {made !== undefined && (
          <>
            <Callout tone="wait" title={words.invite.link(made.email)}>
              {words.invite.linkRule}
            </Callout>
            <CodeBlock what={words.invite.copy} text={made.link} />
          </>
        )}
      </Stack>
    </form>
  );
}

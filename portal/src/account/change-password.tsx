import { Button, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/account.ts';
import styles from './account.module.css';

export function ChangePassword() {
  const showToast = useToast();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { run, busy, problem } = useAction(async () => {
    await call('POST', '/portal/v1/me/password', { body: { current_password: current, password: next } });
    setCurrent('');
    setNext('');
    showToast(words.password.changed);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel title={words.password.title} lead={words.password.lead}>
      <form onSubmit={submit} noValidate className={styles.form}>
        <Stack>
          <PasswordField
            label={words.password.current}
            value={current}
            onChange={setCurrent}
            error={problem?.of('current_password')}
          />
          <PasswordField
            label={words.password.next}
            isNew
            value={next}
            onChange={setNext}
            error={problem?.of('password')}
          />
          <ProblemCallout problem={problem} fields={['current_password', 'password']} />
          <div>
            <Button type="submit" variant="default" loading={busy}>
              {words.password.submit}
            </Button>
          </div>
        </Stack>
      </form>
    </Panel>
  );
}

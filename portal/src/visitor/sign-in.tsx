import { Button, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Account, Challenge } from '../api/types.ts';
import { useFilters } from '../location.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { SsoFault } from '../parts/notice/sso-fault.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words as ssoWords } from '../words/sso.ts';
import { words } from '../words/visitor.tsx';
import styles from './narrow.module.css';
import { SecondFactorStep } from './second-factor-step.tsx';
import { SsoButton } from './sso-button.tsx';
import { SsoPanel } from './sso-panel.tsx';

export function SignIn() {
  const { enter, expired, service } = useSession();
  const { values } = useFilters({ sso: '', challenge: '' });
  const [path, navigate] = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [challenge, setChallenge] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    const answer = await call<Account | Challenge>('POST', '/portal/v1/sessions', { body: { email, password } });
    if ('challenge' in answer) setChallenge(answer.challenge);
    else enter(answer);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  if (values.challenge !== '') {
    const cancel = () => navigate(path, { replace: true });
    return <SecondFactorStep challenge={values.challenge} lead={ssoWords.codeLead} next="/" onCancel={cancel} />;
  }
  if (challenge !== undefined)
    return <SecondFactorStep challenge={challenge} onCancel={() => setChallenge(undefined)} />;
  return (
    <div className={styles.narrow}>
      <PageTitle>{words.signIn.title}</PageTitle>
      <Stack mb={values.sso === '' && !expired ? 0 : 'md'}>
        {expired && <Callout tone="calm">{words.signIn.expired}</Callout>}
        <SsoFault fault={values.sso} only={service.sso?.only === true} />
      </Stack>
      {service.sso?.only && <SsoPanel issuer={service.sso.issuer} />}
      {!service.sso?.only && (
        <Panel>
          {service.sso && (
            <>
              <SsoButton issuer={service.sso.issuer} />
              <Text my="md">{ssoWords.or}</Text>
            </>
          )}
          <form onSubmit={submit} noValidate>
            <Stack>
              <TextInput
                label={words.email}
                type="email"
                autoComplete="username"
                value={email}
                onChange={(event) => setEmail(event.currentTarget.value)}
                error={problem?.of('email')}
              />
              <PasswordField
                label={words.password.label}
                value={password}
                onChange={setPassword}
                error={problem?.of('password')}
              />
              <ProblemCallout problem={problem} fields={['email', 'password']} />
              <Button type="submit" size="md" variant={service.sso ? 'default' : 'filled'} loading={busy}>
                {words.signIn.title}
              </Button>
              <span>{words.signIn.noAccount}</span>
            </Stack>
          </form>
        </Panel>
      )}
      {service.environment === 'sandbox' && !service.sso?.only && <p className={styles.aside}>{words.signIn.demo}</p>}
      {!service.sso?.only && <p className={styles.aside}>{words.signIn.forgotten}</p>}
    </div>
  );
}

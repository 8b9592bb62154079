import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/account.ts';
import { CodeForm } from './code-form.tsx';
import { EnrolByLink } from './enrol-by-link.tsx';
import { PasswordForm } from './password-form.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { type FactorSecret, SecretToScan } from './secret-to-scan.tsx';

const path = '/portal/v1/me/second-factor';

type Step = 'none' | 'ask' | 'replace' | 'scan' | 'renew' | 'remove';

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const clockTime = (at: string) => timeOfDay.format(new Date(at));

/** Turns on, replaces or turns off codes of an authenticator app. `next` is the page that asked for the set-up: it opens once the recovery codes are saved. */
export function SecondFactor({ account, next }: { account: Account; next: string }) {
  const { refresh, service } = useSession();
  const showToast = useToast();
  const [, navigate] = useLocation();
  const [step, setStep] = useState<Step>('none');
  const [secret, setSecret] = useState<FactorSecret | undefined>(undefined);
  const [codes, setCodes] = useState<string[] | undefined>(undefined);
  const { enabled, recovery_codes_left: left, required, can_set_up, set_up_until } = account.second_factor;

  async function begin(password: string, code: string): Promise<void> {
    const body = { current_password: password, ...(enabled && { code }) };
    setSecret(await call<FactorSecret>('POST', path, { body }));
    setStep('scan');
  }

  async function take(which: 'confirm' | 'recovery-codes', code: string): Promise<void> {
    const answer = await call<{ recovery_codes: string[] }>('POST', `${path}/${which}`, { body: { code } });
    setCodes(answer.recovery_codes);
    setSecret(undefined);
    setStep('none');
    await refresh();
  }

  async function remove(password: string, code: string): Promise<void> {
    await call('POST', `${path}/remove`, { body: { current_password: password, code } });
    setStep('none');
    setCodes(undefined);
    await refresh();
    showToast(words.factor.off);
  }

  function finish(): void {
    setCodes(undefined);
    if (next.startsWith('/')) navigate(next, { replace: true });
  }

  const asked = !enabled && account.operator && (required || service.environment === 'production');
  return (
    <Panel title={words.factor.title} lead={enabled ? words.factor.leadOn(left) : words.factor.leadOff}>
      <Stack>
        {asked && can_set_up && step === 'none' && (
          <Callout tone="wait" title={words.factor.operatorTitle}>
            <div>{words.factor.operatorDetail}</div>
            {set_up_until !== null && <div>{words.factor.until(clockTime(set_up_until))}</div>}
          </Callout>
        )}
        {!can_set_up && <EnrolByLink email={account.email} />}
        {codes !== undefined && <RecoveryCodes codes={codes} onDone={finish} />}
        {step === 'none' && codes === undefined && (
          <Group>
            {enabled ? (
              <>
                <Button variant="default" onClick={() => setStep('renew')}>
                  {words.factor.newCodes}
                </Button>
                <Button variant="default" onClick={() => setStep('replace')}>
                  {words.factor.replace}
                </Button>
                {!required && (
                  <Button variant="default" c="var(--bad)" onClick={() => setStep('remove')}>
                    {words.factor.turnOff}
                  </Button>
                )}
              </>
            ) : (
              can_set_up && <Button onClick={() => setStep('ask')}>{words.factor.setUp}</Button>
            )}
          </Group>
        )}
        {enabled && required && step === 'none' && codes === undefined && <Text>{words.factor.keptByOperators}</Text>}
        {step === 'ask' && <PasswordForm label={words.factor.continue} act={begin} onCancel={() => setStep('none')} />}
        {step === 'replace' && (
          <>
            <Text>{words.factor.replaceLead}</Text>
            <PasswordForm withCode label={words.factor.continue} act={begin} onCancel={() => setStep('none')} />
          </>
        )}
        {step === 'remove' && (
          <PasswordForm withCode label={words.factor.turnOffNow} act={remove} onCancel={() => setStep('none')} />
        )}
        {step === 'renew' && (
          <CodeForm
            label={words.factor.createCodes}
            act={(code) => take('recovery-codes', code)}
            onCancel={() => setStep('none')}
          />
        )}
        {step === 'scan' && secret !== undefined && (
          <SecretToScan secret={secret}>
            <CodeForm
              label={words.factor.turnOn}
              isSetup
              act={(code) => take('confirm', code)}
              onCancel={() => setStep('none')}
            />
          </SecretToScan>
        )}
      </Stack>
    </Panel>
  );
}

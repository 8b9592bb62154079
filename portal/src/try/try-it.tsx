import { SegmentedControl, Stack, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apis } from '../api/apis.ts';
import type { InboxText } from '../api/record-types.ts';
import type { ApiName, Registration } from '../api/types.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { Empty } from '../parts/empty.tsx';
import { Note } from '../parts/note.tsx';
import { Panel } from '../parts/panel.tsx';
import { useKept } from '../session/kept.ts';
import { useSecrets } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { ExchangeView } from './exchange-view.tsx';
import { Handset } from './handset.tsx';
import { SecretField } from './secret-field.tsx';
import { SendForm } from './send-form.tsx';
import type { Trial } from './trial.ts';
import styles from './try-it.module.css';
import { useCaller } from './use-caller.ts';
import { verdictOf } from './verdict.ts';
import { VerifyForm } from './verify-form.tsx';
import type { Exchange } from './wire.ts';

const firstNumber = '+15005550100';

export default function TryIt({ application }: TabProps) {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  const { id, registrations } = application;
  const [api, keepApi] = useKept<ApiName>(`api to try of ${id}`, firstApi(registrations));
  const [to, keepTo] = useKept(`number to try of ${id}`, sandbox ? firstNumber : '');
  const [trial, keepTrial] = useKept<Trial>(`verification to try of ${id}`, { id: '', code: '', outcome: undefined });
  const [number, setNumber] = useState(to);
  const [secrets, keepSecrets] = useSecrets(id);
  const caller = useCaller(application, secrets);
  const [newest] = caller.exchanges;
  const registration = registrations.find((each) => each.api === api);

  function takeCode(text: InboxText, code: string): void {
    keepApi(() => 'verify');
    keepTrial((before) => {
      const same = before.id === text.verification_id;
      return { id: text.verification_id ?? '', code, outcome: same ? before.outcome : undefined };
    });
  }

  const form = { application, caller, to, setTo: (next: string) => keepTo(() => next), onSent: setNumber };
  return (
    <div className={styles.page} data-handset={sandbox || undefined}>
      <div className={styles.form}>
        <Panel
          title="Call the API"
          lead="These are real calls: they count against the plan, like those of your program."
        >
          <Stack>
            <SegmentedControl
              aria-label="API"
              fullWidth
              value={api}
              onChange={(next) => keepApi(() => next)}
              data={apis.map(({ name, title }) => ({ value: name, label: title }))}
            />
            {registration === undefined ? (
              <Empty title="Not registered for this API">
                Choose a plan on the <Link href={`/applications/${id}`}>overview</Link>, then come back.
              </Empty>
            ) : (
              <>
                {registration.status === 'pending' && (
                  <Note tone="wait">An operator has not approved this registration yet: expect a refusal.</Note>
                )}
                <SecretField application={application} api={api} secrets={secrets} keepSecrets={keepSecrets} />
                {api === 'verify' ? (
                  <VerifyForm {...form} trial={trial} keepTrial={keepTrial} />
                ) : (
                  <SendForm {...form} api={api} key={api} />
                )}
              </>
            )}
          </Stack>
        </Panel>
      </div>
      {newest !== undefined && (
        <section aria-label="Over the wire" className={styles.exchanges}>
          <Said exchange={newest} />
          <h2 className={styles.heading}>Over the wire, newest first</h2>
          {caller.exchanges.map((exchange, index) => (
            <ExchangeView key={exchange.id} exchange={exchange} applicationId={id} open={index === 0} />
          ))}
        </section>
      )}
      {sandbox && (
        <div className={styles.handset}>
          <Handset applicationId={id} number={number} onNumber={setNumber} onCode={takeCode} />
        </div>
      )}
    </div>
  );
}

/** For a screen reader the outcome is enough; the rest is there to be read. */
function Said({ exchange }: { exchange: Exchange }) {
  return (
    <VisuallyHidden role="status">
      {exchange.title}: {verdictOf(exchange).title}
    </VisuallyHidden>
  );
}

function firstApi(registrations: Registration[]): ApiName {
  return apis.find(({ name }) => registrations.some(({ api }) => api === name))?.name ?? 'sms';
}

import { SegmentedControl, Stack, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apis } from '../api/apis.ts';
import type { InboxText } from '../api/record-types.ts';
import type { ApiName, Registration } from '../api/types.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { Callout } from '../parts/callout.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { usePageState } from '../session/page-state.ts';
import { useSecrets } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import type { Exchange } from './exchange.ts';
import { ExchangeView } from './exchange-view.tsx';
import { explainResponse } from './explain-response.ts';
import { Handset } from './handset.tsx';
import { SecretField } from './secret-field.tsx';
import { SendForm } from './send-form.tsx';
import styles from './try-it.module.css';
import { useApiClient } from './use-api-client.ts';
import { VerifyForm } from './verify-form.tsx';
import type { VerifyState } from './verify-state.ts';

const firstNumber = '+15005550100';

export default function TryIt({ application }: TabProps) {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  const { id, registrations } = application;
  const [api, updateApi] = usePageState<ApiName>(`api to try of ${id}`, firstApi(registrations));
  const [to, updateTo] = usePageState(`number to try of ${id}`, sandbox ? firstNumber : '');
  const [state, updateState] = usePageState<VerifyState>(`verification to try of ${id}`, {
    id: '',
    code: '',
    outcome: undefined,
  });
  const [number, setNumber] = useState(to);
  const [secrets, updateSecrets] = useSecrets(id);
  const client = useApiClient(application, secrets);
  const [newest] = client.exchanges;
  const registration = registrations.find((each) => each.api === api);

  function takeCode(text: InboxText, code: string): void {
    updateApi(() => 'verify');
    updateState((before) => {
      const same = before.id === text.verification_id;
      return { id: text.verification_id ?? '', code, outcome: same ? before.outcome : undefined };
    });
  }

  const form = { application, client, to, setTo: (next: string) => updateTo(() => next), onSent: setNumber };
  return (
    <div className={styles.page} data-handset={sandbox || undefined}>
      <div className={styles.form}>
        <Panel title="Call the API" lead="These calls are real and count against your plan.">
          <Stack>
            <SegmentedControl
              aria-label="API"
              fullWidth
              value={api}
              onChange={(next) => updateApi(() => next)}
              data={apis.map(({ name, title }) => ({ value: name, label: title }))}
            />
            {registration === undefined ? (
              <EmptyState title="Not registered for this API">
                Choose a plan on the <Link href={`/applications/${id}`}>overview</Link>, then come back.
              </EmptyState>
            ) : (
              <>
                {registration.status === 'pending' && (
                  <Callout tone="wait">
                    An operator has not approved this registration yet. Requests will be refused.
                  </Callout>
                )}
                <SecretField application={application} api={api} secrets={secrets} updateSecrets={updateSecrets} />
                {api === 'verify' ? (
                  <VerifyForm {...form} state={state} updateState={updateState} />
                ) : (
                  <SendForm {...form} api={api} key={api} />
                )}
              </>
            )}
          </Stack>
        </Panel>
      </div>
      {newest !== undefined && (
        <section aria-label="Requests and responses" className={styles.exchanges}>
          <Announcement exchange={newest} />
          <h2 className={styles.heading}>Requests and responses, newest first</h2>
          {client.exchanges.map((exchange, index) => (
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

/** Announces only the outcome to screen readers. */
function Announcement({ exchange }: { exchange: Exchange }) {
  return (
    <VisuallyHidden role="status">
      {exchange.title}: {explainResponse(exchange).title}
    </VisuallyHidden>
  );
}

function firstApi(registrations: Registration[]): ApiName {
  return apis.find(({ name }) => registrations.some(({ api }) => api === name))?.name ?? 'sms';
}

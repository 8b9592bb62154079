import { SegmentedControl, Stack, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apis } from '../api/apis.ts';
import type { InboxText } from '../api/record-types.ts';
import type { ApiName, Registration } from '../api/types.ts';
import { Handset } from '../handset/handset.tsx';
import type { Draft } from '../handset/reply-form.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { usePageState } from '../session/page-state.ts';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { words } from '../words/try.tsx';
import type { Exchange } from './exchange.ts';
import { ExchangeView } from './exchange-view.tsx';
import { explainResponse } from './explain-response.ts';
import { SendForm } from './send-form.tsx';
import { TryForViewer } from './try-for-viewer.tsx';
import styles from './try-it.module.css';
import { useApiClient } from './use-api-client.ts';
import { VerifyForm } from './verify-form.tsx';
import type { VerifyState } from './verify-state.ts';

const firstNumber = '+15005550100';

export default function TryIt(props: TabProps) {
  return useCanChange() ? <CallApi {...props} /> : <TryForViewer />;
}

function CallApi({ application }: TabProps) {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  const { id, registrations } = application;
  const [api, updateApi] = usePageState<ApiName>(`try-api-${id}`, firstApi(registrations));
  const [to, updateTo] = usePageState(`try-number-${id}`, sandbox ? firstNumber : '');
  const [state, updateState] = usePageState<VerifyState>(`try-verification-${id}`, {
    id: '',
    code: '',
    outcome: undefined,
  });
  const [number, setNumber] = useState(to);
  const [draft, setDraft] = useState<Draft | undefined>(undefined);
  const client = useApiClient(application);
  const [newest] = client.exchanges;
  const registration = registrations.find((each) => each.api === api);

  function takeCode(text: InboxText, code: string): void {
    updateApi(() => 'verify');
    updateState((before) => {
      const same = before.id === text.verification_id;
      return { id: text.verification_id ?? '', code, outcome: same ? before.outcome : undefined };
    });
  }

  function write(text: Draft): void {
    setNumber(text.from);
    setDraft({ ...text });
  }

  const setTo = (next: string) => updateTo(() => next);
  const form = { application, client, to, setTo, onSent: setNumber };
  return (
    <div className={styles.page} data-handset={sandbox || undefined}>
      <div className={styles.form}>
        <Panel title={words.title} lead={words.lead}>
          <Stack>
            <SegmentedControl
              aria-label={words.form.api}
              fullWidth
              value={api}
              onChange={(next) => updateApi(() => next)}
              data={apis.map(({ name, title }) => ({ value: name, label: title }))}
            />
            {registration === undefined ? (
              <EmptyState title={words.notRegistered}>{words.choosePlan(id)}</EmptyState>
            ) : (
              <>
                {registration.status === 'pending' && <Callout tone="wait">{words.notApproved}</Callout>}
                {api === 'verify' ? (
                  <VerifyForm {...form} state={state} updateState={updateState} onWrite={sandbox ? write : undefined} />
                ) : (
                  <SendForm {...form} api={api} key={api} />
                )}
              </>
            )}
          </Stack>
        </Panel>
      </div>
      {newest !== undefined && (
        <section aria-label={words.exchange.list} className={styles.exchanges}>
          <Announcement exchange={newest} />
          <h2 className={styles.heading}>{words.exchange.listTitle}</h2>
          {client.exchanges.map((exchange, index) => (
            <ExchangeView
              key={exchange.id}
              exchange={exchange}
              open={index === 0}
              trace={(correlationId) => (
                <Link href={`/applications/${id}/requests/${correlationId}`}>
                  <code>{correlationId}</code>
                </Link>
              )}
            />
          ))}
        </section>
      )}
      {sandbox && (
        <div className={styles.handset}>
          <Handset applicationId={id} number={number} onNumber={setNumber} onCode={takeCode} draft={draft} />
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

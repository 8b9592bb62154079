import { Group, NativeSelect, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Draft } from '../handset/reply-form.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { type Update, usePageState } from '../session/page-state.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import { CheckForm } from './check-form.tsx';
import { bodyOf, type Exchange } from './exchange.ts';
import { InboundCard } from './inbound-card.tsx';
import { NumberField } from './number-field.tsx';
import { ResultLine } from './result-line.tsx';
import { SendButton } from './send-button.tsx';
import type { FormProps } from './send-form.tsx';
import styles from './try-it.module.css';
import type { Outcome, VerifyState } from './verify-state.ts';

interface VerifyFormProps extends FormProps {
  state: VerifyState;
  updateState: Update<VerifyState>;
  /** Writes a text into the handset; left out where there is none. */
  onWrite?: ((text: Draft) => void) | undefined;
}

type Sending = 'sms' | 'voice' | 'whatsapp';
type Channel = Sending | 'inbound';
const sending: Sending[] = ['sms', 'voice', 'whatsapp'];
const channels: Channel[] = [...sending, 'inbound'];
const afterSeconds = 20;

/** Starts a verification and checks its code. */
export function VerifyForm(props: VerifyFormProps) {
  const { application, client, to, setTo, onSent, state, updateState, onWrite } = props;
  const [channel, updateChannel] = usePageState<Channel>(`try-channel-${application.id}`, 'sms');
  const [next, setNext] = useState('');
  const [domain, setDomain] = useState('');
  const [result, setResult] = useState<Exchange | undefined>(undefined);
  const isInbound = channel === 'inbound';
  const follows = !isInbound && next !== '' && next !== channel;
  const { run, busy, problem } = useAction(async () => {
    onSent(to);
    const body = {
      ...{ to, channel },
      ...(channel === 'sms' && domain !== '' && { autofill: { domain } }),
      ...(follows && { fallback: [{ channel: next, after_seconds: afterSeconds }] }),
    };
    const exchange = await client.send('verify', words.verify.start, '/verify/v1/verifications', body);
    setResult(exchange);
    const { answer } = exchange;
    const started = answer?.status === 200 ? bodyOf<Outcome>(answer) : undefined;
    if (started) updateState(() => ({ id: started.id, code: '', outcome: started }));
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Stack>
      <form onSubmit={submit} noValidate>
        <Stack>
          <SegmentedControl
            aria-label={words.verify.channel}
            fullWidth
            value={channel}
            onChange={(picked) => updateChannel(() => picked)}
            data={channels.map((each) => ({ value: each, label: words.verify.channels[each] }))}
          />
          <div className={styles.fields}>
            <NumberField value={to} onChange={setTo} {...(isInbound && { hint: words.inbound.from })} />
            {!isInbound && (
              <NativeSelect
                label={words.verify.fallback}
                value={follows ? next : ''}
                onChange={(event) => setNext(event.currentTarget.value)}
                data={[
                  { value: '', label: words.verify.noFallback },
                  ...sending
                    .filter((each) => each !== channel)
                    .map((each) => ({ value: each, label: words.verify.after(afterSeconds)[each] })),
                ]}
              />
            )}
            {channel === 'sms' && (
              <TextInput
                label={words.verify.domain}
                description={words.verify.domainDetail}
                placeholder={words.verify.domainExample}
                value={domain}
                onChange={(event) => setDomain(event.currentTarget.value.trim())}
              />
            )}
          </div>
          <ProblemCallout problem={problem} />
          <Group>
            <SendButton
              label={isInbound ? words.verify.await : state.id === '' ? words.verify.send : words.verify.sendAgain}
              busy={busy}
              last={result}
              arrow
            />
            {!busy && <ResultLine exchange={result} applicationId={application.id} />}
          </Group>
        </Stack>
      </form>
      {state.id !== '' && state.outcome?.channel !== 'inbound' && (
        <CheckForm applicationId={application.id} client={client} state={state} updateState={updateState} />
      )}
      {state.outcome?.channel === 'inbound' && (
        <InboundCard
          applicationId={application.id}
          outcome={state.outcome}
          onEnded={(record) => updateState((before) => ({ ...before, outcome: record }))}
          onHandset={onWrite && writeOf(state.outcome, onWrite)}
        />
      )}
    </Stack>
  );
}

/** Writes what the person has to text on the phone of the number that is verified. */
function writeOf({ inbound, to }: Outcome, onWrite: (text: Draft) => void): (() => void) | undefined {
  return inbound && (() => onWrite({ from: to, to: inbound.number, message: inbound.text }));
}

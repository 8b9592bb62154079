import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useToast } from '../parts/toast.tsx';
import { type ChosenTypes, TypeChoice } from './type-choice.tsx';

const hourMs = 3_600_000;

/** As an input of the type datetime-local writes it, in the reader's time zone. */
function toLocal(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function toTime(local: string): string {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? local : new Date(ms).toISOString();
}

/** Sends all events of a span again. */
export function ReplaySpan({ path, onReplay }: { path: string; onReplay: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setOpen(true)}>
        Replay a time span
      </Button>
      {open && <SpanForm path={path} onClose={() => setOpen(false)} onReplay={onReplay} />}
    </>
  );
}

interface SpanFormProps {
  path: string;
  onClose: () => void;
  onReplay: () => void;
}

function SpanForm({ path, onClose, onReplay }: SpanFormProps) {
  const showToast = useToast();
  const [since, setSince] = useState(() => toLocal(Date.now() - hourMs));
  const [until, setUntil] = useState('');
  const [chosen, setChosen] = useState<ChosenTypes>(null);
  const { run, busy, problem } = useAction(async () => {
    const body = { since: toTime(since), types: chosen ?? [], ...(until !== '' && { until: toTime(until) }) };
    await call('POST', `${path}/replay`, { body });
    showToast('Events queued to be sent again.');
    onClose();
    onReplay();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal opened onClose={onClose} title="Replay a time span" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <p style={{ margin: 0 }}>
            Sends every event of the span again, oldest first, with its old id. Events are kept for 7 days.
          </p>
          <TextInput
            label="From"
            type="datetime-local"
            data-autofocus
            value={since}
            onChange={(event) => setSince(event.currentTarget.value)}
            error={problem?.of('since', 'The start')}
          />
          <TextInput
            label="To"
            type="datetime-local"
            description="Empty: until now."
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
            error={problem?.of('until', 'The end')}
          />
          <TypeChoice chosen={chosen} onChange={setChosen} error={problem?.of('types', 'Events')} />
          <ProblemCallout problem={problem} fields={['since', 'until', 'types']} />
          <Button type="submit" loading={busy} disabled={chosen?.length === 0}>
            Replay
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

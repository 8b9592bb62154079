import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import { type ChosenTypes, TypeChoice } from './type-choice.tsx';

const hourMs = 3_600_000;

/** In the format of a datetime-local input, in the reader's time zone. */
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
        {words.replay.title}
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
    showToast(words.replay.done);
    onClose();
    onReplay();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={words.replay.title}
      size="lg"
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <p style={{ margin: 0 }}>{words.replay.detail}</p>
          <TextInput
            label={words.replay.from}
            type="datetime-local"
            data-autofocus
            value={since}
            onChange={(event) => setSince(event.currentTarget.value)}
            error={problem?.of('since', words.replay.from)}
          />
          <TextInput
            label={words.replay.to}
            type="datetime-local"
            description={words.replay.toRule}
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
            error={problem?.of('until', words.replay.to)}
          />
          <TypeChoice chosen={chosen} onChange={setChosen} error={problem?.of('types', words.events)} />
          <ProblemCallout problem={problem} fields={['since', 'until', 'types']} />
          <Button type="submit" loading={busy} disabled={chosen?.length === 0}>
            {words.replay.submit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

import { Button, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { apis } from '../../api/apis.ts';
import { call, operatorPath } from '../../api/call.ts';
import type { OwnNumber } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/numbers.ts';
import { ApplicationField } from '../application-field.tsx';
import { useCarrierNames } from '../use-carrier-names.ts';

interface NumberFormProps {
  /** Undefined for a new number. */
  number: OwnNumber | undefined;
  onClose: () => void;
  onSaved: () => void;
}

const inputs = ['number', 'application_id', 'api', 'keyword', 'carrier', 'ignored_words'];

/** Assigns a number to an application. Saving the same number, keyword and carrier again reassigns it. */
export function NumberForm({ number: before, onClose, onSaved }: NumberFormProps) {
  const showToast = useToast();
  const carriers = useCarrierNames() ?? [];
  const [number, setNumber] = useState(before?.number ?? '');
  const [application, setApplication] = useState(before?.application_id ?? '');
  const [api, setApi] = useState<string>(before?.api ?? 'sms');
  const [keyword, setKeyword] = useState(before?.keyword ?? '');
  const [carrier, setCarrier] = useState(before?.carrier ?? '');
  const [ignored, setIgnored] = useState(before?.ignored_words.join(', ') ?? '');
  const { run, busy, problem } = useAction(async () => {
    const body = {
      application_id: application,
      api,
      keyword: keyword === '' ? null : keyword,
      carrier: carrier === '' ? null : carrier,
      ignored_words: ignored.split(/[\s,]+/).filter((word) => word !== ''),
    };
    await call('PUT', operatorPath(`numbers/${encodeURIComponent(number)}`), { body });
    showToast(words.form.saved(number));
    onSaved();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={before === undefined ? words.form.title : words.form.change(before.number)}
      closeButtonProps={{ 'aria-label': words.form.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.number}
            description={words.form.numberRule}
            placeholder="+447700900123"
            disabled={before !== undefined}
            data-autofocus
            value={number}
            onChange={(event) => setNumber(event.currentTarget.value.trim())}
            error={problem?.of('number')}
          />
          <ApplicationField value={application} onChange={setApplication} error={problem?.of('application_id')} />
          <NativeSelect
            label={words.form.api}
            description={words.form.apiRule}
            data={apis
              .filter(({ name }) => name !== 'verify')
              .map(({ name, title }) => ({ value: name, label: title }))}
            value={api}
            onChange={(event) => setApi(event.currentTarget.value)}
            error={problem?.of('api')}
          />
          <TextInput
            label={words.keyword}
            description={words.form.keywordRule}
            disabled={before !== undefined}
            value={keyword}
            onChange={(event) => setKeyword(event.currentTarget.value.trim())}
            error={problem?.of('keyword')}
          />
          <NativeSelect
            label={words.carrier}
            disabled={before !== undefined}
            data={[{ value: '', label: words.form.any }, ...carriers]}
            value={carrier}
            onChange={(event) => setCarrier(event.currentTarget.value)}
            error={problem?.of('carrier')}
          />
          <TextInput
            label={words.ignored}
            description={words.form.ignoredRule}
            value={ignored}
            onChange={(event) => setIgnored(event.currentTarget.value)}
            error={problem?.of('ignored_words')}
          />
          <ProblemCallout problem={problem} fields={inputs} />
          <Button type="submit" loading={busy}>
            {words.form.save}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

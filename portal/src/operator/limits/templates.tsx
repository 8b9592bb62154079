import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/call.ts';
import type { Template } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Table } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import styles from '../operator.module.css';

const columns = ['Country', 'Text', 'Template id', ''];

/** The texts of an application's codes, where a country or a carrier wants its own. */
export function Templates({ path }: { path: string }) {
  const { data, problem, reload } = useLoad<Page<Template>>(path);
  return (
    <Panel
      title="Texts of codes"
      lead="Where a country wants each text registered. The text has {{code}} once, may have {{minutes}}, and fits one segment."
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data !== undefined && data.data.length > 0 && (
          <Table
            label="Texts of codes"
            columns={columns}
            rows={data.data.map(({ country, text, template_id }) => ({
              key: country,
              cells: [
                country,
                text,
                template_id ?? '–',
                <ConfirmButton
                  key="remove"
                  label="Remove"
                  about={`the text for ${country}`}
                  question={`Remove the text for ${country}?`}
                  act={async () => {
                    await call('DELETE', `${path}/${country}`);
                    reload();
                  }}
                >
                  Codes to {country} have Heliograph’s own text again.
                </ConfirmButton>,
              ],
            }))}
          />
        )}
        <TemplateForm path={path} onSaved={reload} />
      </Stack>
    </Panel>
  );
}

function TemplateForm({ path, onSaved }: { path: string; onSaved: () => void }) {
  const showToast = useToast();
  const [country, setCountry] = useState('');
  const [text, setText] = useState('');
  const [templateId, setTemplateId] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const body = { text, template_id: templateId.trim() === '' ? null : templateId.trim() };
    await call('PUT', `${path}/${encodeURIComponent(country || '-')}`, { body });
    showToast(`Codes to ${country.toUpperCase()} have this text now.`);
    setText('');
    onSaved();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form className={styles.template} onSubmit={submit} noValidate>
      <TextInput
        label="Country"
        placeholder="IN"
        value={country}
        onChange={(event) => setCountry(event.currentTarget.value.trim())}
        error={problem?.of('country')}
      />
      <TextInput
        label="Text"
        placeholder="{{code}} is your ACME code. Valid for {{minutes}} min."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={problem?.of('text')}
      />
      <TextInput
        label="Template id"
        placeholder="None"
        value={templateId}
        onChange={(event) => setTemplateId(event.currentTarget.value)}
        error={problem?.of('template_id')}
      />
      <div>
        <Button type="submit" variant="default" loading={busy}>
          Set the text
        </Button>
        <ProblemCallout problem={problem} fields={['country', 'text', 'template_id']} />
      </div>
    </form>
  );
}

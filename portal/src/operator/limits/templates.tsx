import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/call.ts';
import type { Template } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/limits.ts';
import styles from '../operator.module.css';

const columns = [words.templates.country, words.templates.text, words.templates.id, ''];

/** The verification texts of an application, for countries that require registered texts. */
export function Templates({ path }: { path: string }) {
  const { data, problem, reload } = useLoad<Page<Template>>(path);
  return (
    <Panel title={words.templates.title} lead={words.templates.lead}>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data !== undefined && data.data.length > 0 && (
          <Table
            label={words.templates.title}
            columns={columns}
            rows={data.data.map(({ country, text, template_id }) => ({
              key: country,
              cells: [
                country,
                text,
                template_id ?? '–',
                <ConfirmButton
                  key="remove"
                  label={words.templates.remove}
                  about={words.templates.of(country)}
                  question={words.templates.removeQuestion(country)}
                  act={async () => {
                    await call('DELETE', `${path}/${country}`);
                    reload();
                  }}
                >
                  {words.templates.removeDetail(country)}
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
    showToast(words.templates.saved(country.toUpperCase()));
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
        label={words.templates.country}
        placeholder={words.templates.countryExample}
        value={country}
        onChange={(event) => setCountry(event.currentTarget.value.trim())}
        error={problem?.of('country')}
      />
      <TextInput
        label={words.templates.text}
        placeholder={words.templates.textExample}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={problem?.of('text')}
      />
      <TextInput
        label={words.templates.id}
        placeholder={words.templates.noId}
        value={templateId}
        onChange={(event) => setTemplateId(event.currentTarget.value)}
        error={problem?.of('template_id')}
      />
      <div>
        <Button type="submit" variant="default" loading={busy}>
          {words.templates.save}
        </Button>
        <ProblemCallout problem={problem} fields={['country', 'text', 'template_id']} />
      </div>
    </form>
  );
}

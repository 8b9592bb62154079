import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { apiTitle } from '../../api/apis.ts';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { OwnNumber } from '../../api/operator-types.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/numbers.ts';
import { ApplicationLink } from '../application-link.tsx';
import { NumberForm } from './number-form.tsx';
import { UnassignedTexts } from './unassigned-texts.tsx';

const columns = [words.number, words.keyword, words.application, 'API', words.carrier, words.ignored, ''];

export default function Numbers() {
  const showToast = useToast();
  const list = useList<OwnNumber>(operatorPath('numbers'));
  const [edited, setEdited] = useState<OwnNumber | 'new' | undefined>(undefined);
  const { data, problem, reload, showMore } = list;

  async function remove({ number, keyword, carrier }: OwnNumber): Promise<void> {
    await call('DELETE', withQuery(operatorPath(`numbers/${encodeURIComponent(number)}`), { keyword, carrier }));
    showToast(words.removed(number));
    reload();
  }

  const give = (
    <Button leftSection={<Icon name="plus" />} onClick={() => setEdited('new')}>
      {words.form.title}
    </Button>
  );
  return (
    <>
      <PageTitle lead={words.lead} actions={data?.length ? give : undefined}>
        {words.title}
      </PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title={words.none} action={give}>
            {words.noneNext}
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <Panel>
            <Table
              label={words.title}
              columns={columns}
              rows={data.map((each) => ({
                key: keyOf(each),
                cells: [
                  <strong key="number">{each.number}</strong>,
                  each.keyword ?? words.any,
                  <ApplicationLink key="application" id={each.application_id} />,
                  apiTitle(each.api),
                  each.carrier ?? words.any,
                  each.ignored_words.length === 0 ? '–' : each.ignored_words.join(', '),
                  <Group key="actions" gap={6} wrap="nowrap" justify="flex-end">
                    <Button
                      variant="default"
                      size="xs"
                      aria-label={words.changeOf(keyOf(each))}
                      onClick={() => setEdited(each)}
                    >
                      {words.change}
                    </Button>
                    <ConfirmButton
                      label={words.remove}
                      about={keyOf(each)}
                      question={words.removeQuestion(each.number)}
                      act={() => remove(each)}
                    >
                      {words.removeDetail}
                    </ConfirmButton>
                  </Group>,
                ],
              }))}
            />
          </Panel>
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            {words.more}
          </Button>
        )}
        <UnassignedTexts />
      </Stack>
      {edited !== undefined && (
        <NumberForm
          number={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

/** Applications can share a number by keyword, and a short code differs by carrier. */
function keyOf({ number, keyword, carrier }: OwnNumber): string {
  return [number, keyword, carrier].filter((part) => part !== null).join(' ');
}

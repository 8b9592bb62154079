import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { apiTitle } from '../../api/apis.ts';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { OwnNumber } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Table } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import { NumberForm } from './number-form.tsx';
import { UnassignedTexts } from './unassigned-texts.tsx';

const columns = ['Number', 'Keyword', 'Application', 'API', 'Carrier', 'Ignored words', ''];

export default function Numbers() {
  const showToast = useToast();
  const list = useList<OwnNumber>(operatorPath('numbers'));
  const [edited, setEdited] = useState<OwnNumber | 'new' | undefined>(undefined);
  const { data, problem, reload, showMore } = list;

  async function remove({ number, keyword, carrier }: OwnNumber): Promise<void> {
    await call('DELETE', withQuery(operatorPath(`numbers/${encodeURIComponent(number)}`), { keyword, carrier }));
    showToast(`${number} is free again.`);
    reload();
  }

  const give = (
    <Button leftSection={<Icon name="plus" />} onClick={() => setEdited('new')}>
      Give a number
    </Button>
  );
  return (
    <>
      <PageTitle
        lead="Numbers and short codes that people can text to, and the application that gets their texts."
        actions={data?.length ? give : undefined}
      >
        Numbers
      </PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title="No numbers" action={give}>
            Give a number of one of your carriers to an application, so that people can answer its texts.
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <Panel>
            <Table
              label="Numbers"
              columns={columns}
              rows={data.map((each) => ({
                key: keyOf(each),
                cells: [
                  <strong key="number">{each.number}</strong>,
                  each.keyword ?? 'any',
                  <code key="application">{each.application_id}</code>,
                  apiTitle(each.api),
                  each.carrier ?? 'any',
                  each.ignored_words.length === 0 ? '–' : each.ignored_words.join(', '),
                  <Group key="actions" gap={6} wrap="nowrap" justify="flex-end">
                    <Button
                      variant="default"
                      size="xs"
                      aria-label={`Change ${keyOf(each)}`}
                      onClick={() => setEdited(each)}
                    >
                      Change
                    </Button>
                    <ConfirmButton
                      label="Take away"
                      about={keyOf(each)}
                      question={`Take ${each.number} from its application?`}
                      act={() => remove(each)}
                    >
                      Texts to it are then kept for operators only.
                    </ConfirmButton>
                  </Group>,
                ],
              }))}
            />
          </Panel>
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
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

/** A number can be shared by keywords, and be another one at another carrier. */
function keyOf({ number, keyword, carrier }: OwnNumber): string {
  return [number, keyword, carrier].filter((part) => part !== null).join(' ');
}

import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { apis, apiTitle } from '../api/apis.ts';
import { applicationPath } from '../api/call.ts';
import type { RequestSummary } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { timesOf } from '../parts/day-times.ts';
import { Icon } from '../parts/icon.tsx';
import { Quiet, RecordList, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { firstPage, listPaths, usePages, withoutPage } from '../parts/list/use-pages.ts';
import { Panel } from '../parts/panel.tsx';
import { HttpStatus, Tag } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { Time } from '../parts/time.tsx';
import { DayRange } from '../records/day-range.tsx';
import { words } from '../words/requests.tsx';
import { RequestDrawer } from './request-drawer.tsx';
import styles from './requests.module.css';

const noFilter = { api: '', status: '', since: '', until: '' };

export default function Requests({ application, record }: TabProps) {
  const [, navigate] = useLocation();
  const [wanted, setWanted] = useState('');
  const here = `/applications/${application.id}/requests`;
  const filters = useFilters({ ...noFilter, ...firstPage });
  const { values, query } = filters;
  const filter = withoutPage(values);
  const change = (changed: Partial<typeof noFilter>) => filters.change({ ...changed, ...firstPage });
  const path = applicationPath(application.id, '/requests');
  const [listPath, totalPath] = listPaths(path, { ...filter, ...timesOf(filter) });
  const pages = usePages<RequestSummary, typeof values>(listPath, filters, totalPath);

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (wanted !== '') navigate(`${here}/${encodeURIComponent(wanted)}${query}`);
  }

  return (
    <Stack gap="lg">
      <Panel title={words.find.title} lead={words.find.lead}>
        <form onSubmit={submit} className={styles.search}>
          <TextInput
            label={words.find.label}
            placeholder={words.find.placeholder}
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value.trim())}
            flex={1}
          />
          <Button type="submit" leftSection={<Icon name="search" size={16} />}>
            {words.find.submit}
          </Button>
        </form>
      </Panel>
      <Panel title={words.list.title} lead={words.list.lead}>
        <Stack>
          <search className={styles.filters}>
            <NativeSelect
              label={words.list.status}
              data={words.list.statuses}
              value={filter.status}
              onChange={(event) => change({ status: event.currentTarget.value })}
            />
            <NativeSelect
              label={words.list.api}
              data={[
                { value: '', label: words.list.any },
                ...apis.map(({ name, title }) => ({ value: name, label: title })),
              ]}
              value={filter.api}
              onChange={(event) => change({ api: event.currentTarget.value })}
            />
            <DayRange since={filter.since} until={filter.until} onChange={change} />
          </search>
          <RecordList
            label={words.list.title}
            pages={pages}
            columns={words.list.columns}
            firstWidth="70px"
            searched={Object.values(filter).some((value) => value !== '')}
            nothing={{
              title: words.list.none.title,
              text: words.list.none.next(`/applications/${application.id}/try`),
            }}
            counted={words.list.counted}
            hrefOf={({ correlation_id }) => `${here}/${correlation_id}${query}`}
            idOf={({ correlation_id }) => correlation_id}
            opened={record}
            renderItem={(request) => (
              <>
                <HttpStatus status={request.status} />
                <RowNumber>{request.to}</RowNumber>
                <RowText>
                  <strong>{request.method}</strong> {request.path}{' '}
                  <Quiet>{request.code ?? apiTitle(request.api)}</Quiet>{' '}
                  {request.sent_from === 'portal' && <Tag tone="calm">{words.list.fromPortal}</Tag>}
                </RowText>
                <Quiet>
                  <Time at={request.at} />
                </Quiet>
              </>
            )}
          />
        </Stack>
      </Panel>
      {record !== undefined && <RequestDrawer key={record} correlationId={record} back={`${here}${query}`} />}
    </Stack>
  );
}

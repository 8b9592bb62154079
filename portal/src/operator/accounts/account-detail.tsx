import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { OperatedAccountDetail, ResetLink } from '../../api/operator-types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ReasonButton } from '../../parts/reason-button.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/accounts.ts';

const { email, role, secondFactor, signIns } = words.memberColumns;

/** One account: its members, and whether it is disabled. */
export function AccountDetail({ id }: { id: string }) {
  const showToast = useToast();
  const path = operatorPath(`accounts/${encodeURIComponent(id)}`);
  const { data, problem, reload } = useLoad<OperatedAccountDetail>(path);
  const [link, setLink] = useState<ResetLink | undefined>(undefined);
  const makeLink = useAction(async (person_id: string) => {
    setLink(await call<ResetLink>('POST', `${path}/reset-link`, { body: { person_id } }));
  });
  const enable = useAction(async () => {
    await call('POST', `${path}/enable`);
    showToast(words.enabled);
    reload();
  });

  const enableCredentials = useAction(async () => {
    const { enabled } = await call<{ enabled: number }>('POST', `${path}/enable-credentials`);
    showToast(words.suspended.done(enabled));
    reload();
  });

  async function disable(reason: string): Promise<void> {
    await call('POST', `${path}/disable`, { body: { reason } });
    showToast(words.disable.done);
    reload();
  }

  if (problem?.status === 404) return <Callout tone="wait" title={words.missing} />;
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={260} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  const isDisabled = data.disabled_at !== null;
  return (
    <Panel
      title={data.owner_email || data.name}
      actions={
        isDisabled ? (
          <Button size="sm" loading={enable.busy} onClick={() => enable.run()}>
            {words.enable}
          </Button>
        ) : (
          <ReasonButton
            label={words.disable.label}
            about={data.owner_email}
            question={words.disable.question}
            description={words.disable.reason}
            act={disable}
          >
            {words.disable.effect}
          </ReasonButton>
        )
      }
    >
      <Stack>
        {isDisabled && (
          <Callout tone="bad" title={words.isDisabled}>
            {data.disabled_reason}
          </Callout>
        )}
        <ProblemCallout problem={enable.problem} />
        {data.suspended_credentials > 0 && (
          <Callout tone="wait" title={words.suspended.title(data.suspended_credentials)}>
            <Stack gap="xs" align="flex-start">
              {words.suspended.text}
              <Button size="xs" loading={enableCredentials.busy} onClick={() => enableCredentials.run()}>
                {words.suspended.enableAll}
              </Button>
            </Stack>
          </Callout>
        )}
        <ProblemCallout problem={enableCredentials.problem} />
        <Facts
          facts={[
            [words.facts.id, <code key="id">{data.id}</code>],
            [words.facts.created, <Time key="created" at={data.created_at} />],
            [
              words.facts.applications,
              <Link key="applications" href={`/operator/applications/${data.id}`}>
                {data.applications}
              </Link>,
            ],
          ]}
        />
        <Table
          label={words.members}
          columns={[email, role, secondFactor, signIns, '']}
          rows={data.people.map((person) => ({
            key: person.id,
            cells: [
              person.email,
              person.role,
              person.second_factor ? words.on : words.off,
              <Link key="signIns" href={`/operator/sign-ins?email=${encodeURIComponent(person.email)}`}>
                {words.signIns}
              </Link>,
              person.operator ? (
                <span key="link">{words.link.onMachine}</span>
              ) : (
                <Button
                  key="link"
                  variant="default"
                  size="xs"
                  disabled={makeLink.busy}
                  aria-label={words.link.createFor(person.email)}
                  onClick={() => makeLink.run(person.id)}
                >
                  {words.link.create}
                </Button>
              ),
            ],
          }))}
        />
        <ProblemCallout problem={makeLink.problem} />
        {link !== undefined && (
          <>
            <Callout tone="wait" title={words.link.title(link.email)}>
              {words.link.text}
            </Callout>
            <CodeBlock what={words.link.what} text={link.link} />
          </>
        )}
      </Stack>
    </Panel>
  );
}

import { Button, Skeleton, Stack } from '@mantine/core';
import { Suspense, useState } from 'react';
import { call } from '../../api/call.ts';
import type { ApplicationDetail, NewTwilioAccount, TwilioAccount } from '../../api/types.ts';
import { Facts } from '../../parts/facts.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { useCanChange } from '../../session/role.ts';
import { useSession } from '../../session/session.tsx';
import { useAction } from '../../session/use-action.ts';
import { words as allWords } from '../../words/integrations.tsx';
import { BackLink } from '../back-link.tsx';
import { InForce } from '../secrets-in-force.tsx';
import { Credentials } from './credentials.tsx';
import { HostWarning } from './host-warning.tsx';
import { Lines, ShownToken } from './shown-token.tsx';
import { TwilioActions } from './twilio-actions.tsx';
import { twilioPath, useTwilio } from './use-twilio.ts';

const words = allWords.twilio;
const guide = '/docs/guides/from-twilio-verify';

/** The credentials for Twilio's library, and the lines to change in a program. */
export function TwilioPage({ application }: { application: ApplicationDetail }) {
  const { id } = application;
  const { service } = useSession();
  const { data: account, problem, reload } = useTwilio(id);
  const [fresh, setFresh] = useState<NewTwilioAccount>();

  function show(made: NewTwilioAccount): void {
    setFresh(made);
    reload();
  }

  return (
    <Stack gap="lg">
      <BackLink applicationId={id} />
      <HostWarning baseUrl={service.base_url} />
      <Panel title={words.page} lead={words.lead}>
        <ProblemCallout problem={problem} onRetry={reload} />
        {account === undefined && problem === undefined && <Skeleton height={480} />}
        {account === null && <NoCredentials path={twilioPath(id)} onMade={show} />}
        {account != null && (
          <Stack>
            <Credentials account={account} />
            <Facts facts={factsOf(account)} />
            <TwilioActions path={twilioPath(id)} onChange={reload} onRotated={show} />
          </Stack>
        )}
      </Panel>
      {account != null && (
        <Panel title={words.lines} lead={words.linesLead}>
          <Suspense fallback={<Skeleton height={240} />}>
            <Lines account={account} />
          </Suspense>
        </Panel>
      )}
      {account !== undefined && <p>{words.guide(guide)}</p>}
      {fresh !== undefined && <ShownToken account={fresh} onClose={() => setFresh(undefined)} />}
    </Stack>
  );
}

function factsOf({ tokens }: TwilioAccount): [string, React.ReactNode][] {
  const [newest] = tokens;
  return [
    [words.tokens, <InForce key="tokens" all={tokens} />],
    ...(newest === undefined
      ? []
      : [[words.created, <Time key="created" at={newest.created_at} />] satisfies [string, React.ReactNode]]),
  ];
}

function NoCredentials({ path, onMade }: { path: string; onMade: (made: NewTwilioAccount) => void }) {
  const canChange = useCanChange();
  const { run, busy, problem } = useAction(async () => onMade(await call<NewTwilioAccount>('POST', path)));
  return (
    <Stack>
      <EmptyState
        title={words.none}
        action={
          canChange && (
            <Button leftSection={<Icon name="plus" size={16} />} loading={busy} onClick={() => run()}>
              {words.create}
            </Button>
          )
        }
      >
        {canChange ? words.noneNext : words.noneForViewer}
      </EmptyState>
      <ProblemCallout problem={problem} />
    </Stack>
  );
}

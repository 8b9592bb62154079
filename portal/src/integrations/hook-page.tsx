import { Skeleton, Stack } from '@mantine/core';
import { applicationPath } from '../api/call.ts';
import type { ApplicationDetail, HookDetail } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/integrations.tsx';
import { BackLink } from './back-link.tsx';
import { HookActions } from './hook-actions.tsx';
import { HookCalls } from './hook-calls.tsx';
import { HookSettings } from './hook-settings.tsx';
import { HookTest } from './hook-test.tsx';
import { apiOf, mayComeWithoutCode, nameOf } from './kinds.ts';
import { pointerNames } from './pointers.ts';
import { InForce } from './secrets-in-force.tsx';

const words = allWords.page;

/** One hook: its settings for the server, a test, and its last calls. */
export function HookPage({ application, id }: { application: ApplicationDetail; id: string }) {
  const path = applicationPath(application.id, `/hooks/${encodeURIComponent(id)}`);
  const { data: hook, problem, reload } = useLoad<HookDetail>(path);
  const canChange = useCanChange();
  const back = <BackLink applicationId={application.id} />;
  if (hook === undefined) {
    return (
      <Stack>
        {back}
        {problem === undefined && <Skeleton height={560} />}
        {problem?.status === 404 ? (
          <Callout tone="bad" title={words.missing} />
        ) : (
          <ProblemCallout problem={problem} onRetry={reload} />
        )}
      </Stack>
    );
  }
  const server = nameOf(hook.kind);
  return (
    <Stack gap="lg">
      {back}
      <Panel title={allWords.kinds[hook.kind].title} lead={<code>{hook.id}</code>}>
        <Stack>
          <Missing application={application} hook={hook} />
          <Facts facts={factsOf(hook)} />
          {canChange && <HookActions applicationId={application.id} hook={hook} path={path} onChange={reload} />}
        </Stack>
      </Panel>
      <Panel title={allWords.settings.title(server)} lead={allWords.kinds[hook.kind].where}>
        <Stack>
          <HookSettings hook={hook} />
        </Stack>
      </Panel>
      {canChange ? (
        <HookTest applicationId={application.id} path={path} />
      ) : (
        <HookCalls applicationId={application.id} path={path} />
      )}
    </Stack>
  );
}

function factsOf(hook: HookDetail): [string, React.ReactNode][] {
  const { kind, from, locale, pointers, created_at, secrets } = hook;
  const given = pointerNames.flatMap((name) => (pointers?.[name] === undefined ? [] : [name]));
  return [
    ...(mayComeWithoutCode(kind) ? [[words.from, from ?? words.none] satisfies [string, React.ReactNode]] : []),
    [words.locale, locale ?? words.english],
    ...given.map((name): [string, React.ReactNode] => [
      allWords.pointers[name],
      <code key={name}>{pointers?.[name]}</code>,
    ]),
    [words.secrets, <InForce key="secrets" all={secrets} />],
    [words.created, <Time key="created" at={created_at} />],
  ];
}

/** What is still missing before the hook can take calls. */
function Missing({ application, hook }: { application: ApplicationDetail; hook: HookDetail }) {
  const api = apiOf(hook);
  const overview = `/applications/${application.id}/overview`;
  if (!application.registrations.some((each) => each.api === api)) {
    return (
      <Callout tone="wait" title={words.notRegistered[api]}>
        {words.registerNext(overview, api)}
      </Callout>
    );
  }
  if (hook.kind !== 'keycloak' || hook.from !== null) return null;
  return (
    <Callout tone="wait" title={words.noSender}>
      {words.noSenderNext}
    </Callout>
  );
}

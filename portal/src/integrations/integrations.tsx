import { Skeleton, Stack } from '@mantine/core';
import { applicationPath } from '../api/call.ts';
import type { Hook } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { useList } from '../session/use-load.ts';
import { HookList } from './hook-list.tsx';
import { HookPage } from './hook-page.tsx';
import { SmppEntry } from './smpp/smpp-entry.tsx';
import { SmppPage } from './smpp/smpp-page.tsx';
import { TwilioEntry } from './twilio/twilio-entry.tsx';
import { TwilioPage } from './twilio/twilio-page.tsx';

/** All ways to connect other systems to an application, or the one that the URL names. */
export default function Integrations({ application, record }: TabProps) {
  if (record === 'smpp') return <SmppPage application={application} />;
  if (record === 'twilio') return <TwilioPage application={application} />;
  if (record !== undefined) return <HookPage key={record} application={application} id={record} />;
  return <AllDoors applicationId={application.id} />;
}

function AllDoors({ applicationId }: { applicationId: string }) {
  const { data, problem, reload } = useList<Hook>(applicationPath(applicationId, '/hooks'));
  if (data === undefined && problem === undefined) return <Skeleton height={480} />;
  return (
    <Stack gap="lg">
      <ProblemCallout problem={problem} onRetry={reload} />
      {data !== undefined && <HookList applicationId={applicationId} hooks={data} />}
      <TwilioEntry applicationId={applicationId} />
      <SmppEntry applicationId={applicationId} />
    </Stack>
  );
}

import type { TabProps } from '../parts/tab-props.ts';
import { WebhookList } from './webhook-list.tsx';
import { WebhookPage } from './webhook-page.tsx';

/** All webhooks of an application, or the one that the URL names. */
export default function Webhooks({ application, record, part }: TabProps) {
  if (record === undefined) return <WebhookList applicationId={application.id} />;
  return <WebhookPage key={record} applicationId={application.id} id={record} eventId={part} />;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../http/route.ts';
import { createInboxRoutes, type InboxOptions } from './inbox-api.ts';

test('HEAD asks for the headers only, and opens no stream', async () => {
  const routes = createInboxRoutes({} as InboxOptions);
  const stream = routes.find(({ path }) => path.endsWith('/stream'));
  const caller = { kind: 'application', applicationId: 'app', registrationId: 'reg', api: 'sms' } as const;
  const call = { method: 'HEAD', caller, query: {}, signal: new AbortController().signal } as Call;
  const reply = await stream?.handler(call);
  assert.deepEqual([reply?.status, reply?.content?.type, reply?.content?.data], [200, 'text/event-stream', '']);
});

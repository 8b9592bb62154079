// Tests: test/contract/priority.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { pathParameter, recordId } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { RegistryService } from '../../registry/registry-service.ts';

const allowancesSchema = Type.Object(
  {
    id: recordId('app'),
    name: Type.String(),
    high_priority: Type.Boolean({ description: 'Whether it may send texts of high priority' }),
  },
  { title: 'Allowances' },
);

/** What operators allow single applications. */
export function createAllowanceRoutes(registry: RegistryService, audit: Audit): Route[] {
  const decide = (word: 'allow' | 'deny', summary: string) =>
    route({
      method: 'POST',
      path: `/portal/v1/operator/applications/{id}/${word}-high-priority`,
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: `${word}HighPriority`,
      summary,
      params: Type.Object({ id: pathParameter }),
      answers: { 200: { description: 'The application and its permissions', schema: allowancesSchema } },
      handler: async (call) => {
        const allowed = word === 'allow';
        const act = allowed ? 'application.high_priority_allowed' : 'application.high_priority_denied';
        const note = audit.note(call, { act, id: call.params.id });
        const { id, name, highPriority } = await registry.allowHighPriority(call.params.id, allowed, note);
        return { status: 200, body: { id, name, high_priority: highPriority } };
      },
    });
  return [
    decide('allow', 'Allow an application to send texts of high priority'),
    decide('deny', 'No longer allow an application to send texts of high priority'),
  ];
}

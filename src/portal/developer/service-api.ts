// Tests: test/contract/operator-plans.test.ts, test/contract/portal-records.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Environment } from '../../platform/environment.ts';
import { scopeFor } from '../../registry/application.ts';
import type { PlanService } from '../../registry/plan-service.ts';
import type { Config } from '../../settings/settings.ts';

const serviceSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    environment: Type.Unsafe<Environment>({ type: 'string', enum: ['sandbox', 'production'] }),
    base_url: Type.String(),
    token_url: Type.String(),
    plans: Type.Array(Type.Object({ name: Type.String(), per_minute: Type.Integer(), burst: Type.Integer() })),
    sso: nullable(
      Type.Object({
        issuer: Type.String({ examples: ['https://login.example.com'] }),
        only: Type.Boolean({ description: 'Whether single sign-on is the only way to sign in' }),
      }),
    ),
    scopes: Type.Object({
      verify: Type.String({ examples: ['openid verify:manage'] }),
      messaging: Type.String({ examples: ['openid messaging:send'] }),
    }),
  },
  { title: 'Service' },
);
export type ServiceRecord = Static<typeof serviceSchema>;

/** What the portal's pages need before sign-in. */
export function createServiceRoutes(
  config: Config,
  tokenUrl: string,
  version: string,
  plans: Pick<PlanService, 'list'>,
): Route[] {
  const about = {
    name: 'Heliograph',
    version,
    environment: config.environment,
    base_url: config.publicUrl,
    token_url: tokenUrl,
    sso: config.sso === undefined ? null : { issuer: config.sso.issuer, only: config.sso.only },
    scopes: { verify: scopeFor('verify'), messaging: scopeFor('messaging') },
  };
  return [
    route({
      method: 'GET',
      path: '/portal/v1/service',
      auth: { kind: 'visitor' },
      tag: 'Developer portal: account',
      operationId: 'getService',
      summary: 'Read the service and its plans',
      answers: { 200: { description: 'The service', schema: serviceSchema } },
      handler: async () => {
        const shown = (await plans.list()).map(({ plan: name, perMinute, burst }) => ({
          ...{ name, per_minute: perMinute, burst },
        }));
        return { status: 200, body: { ...about, plans: shown } };
      },
    }),
  ];
}

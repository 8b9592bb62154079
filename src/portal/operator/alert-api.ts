// Tests: test/contract/operator-alerts.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageQuery, pageSchema, readPage, recordId, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { alertKinds } from '../../quality/alerts/alert.ts';
import { type Alert, listAlerts, type PresentAlert } from '../../quality/alerts/store.ts';

export const alertSchema = Type.Object(
  {
    id: recordId('alr'),
    kind: Type.String({ examples: ['bind_down'], description: alertKinds.join(', ') }),
    carrier: nullable(Type.String()),
    country: nullable(Type.String()),
    application_id: nullable(Type.String()),
    summary: Type.String({ examples: ['The carrier acme is not bound.'] }),
    advice: Type.String({ description: 'What an operator can do' }),
    since: Type.String({ description: 'When the problem began' }),
    raised_at: Type.String({ description: 'When it had lasted long enough to be reported' }),
    told_at: nullable(Type.String({ description: 'When HELIOGRAPH_ALERT_URL acknowledged it' })),
    cleared_at: nullable(Type.String()),
  },
  { title: 'Alert' },
);
/** An alert on the page Now. */
export const presentAlertSchema = Type.Object(
  {
    ...alertSchema.properties,
    raised_at: nullable(Type.String({ description: 'Null if it has not lasted long enough to be reported' })),
  },
  { title: 'PresentAlert' },
);
export type AlertRecord = Static<typeof alertSchema>;

const states = ['open', 'cleared'] as const;

/** Current and past problems, for operators. */
export function createAlertRoutes({ database }: { database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/alerts',
      auth: { kind: 'operator' },
      tag: 'Developer portal: carriers',
      operationId: 'listAlerts',
      summary: 'List alerts: causes before symptoms, then the newest first',
      description: 'Alerts that have ended are kept for 30 days.',
      query: Type.Object({
        state: Type.Unsafe<(typeof states)[number]>({
          type: 'string',
          enum: [...states],
          default: 'open',
          description: 'Current alerts, or those that have ended',
          expected: `one of ${states.join(', ')}`,
        }),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of alerts', schema: pageSchema(alertSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await listAlerts(database, { state: call.query.state, limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toAlert) };
      },
    }),
  ];
}

export function toAlert(alert: Alert): AlertRecord {
  return { ...toPresentAlert(alert), raised_at: toTimestamp(alert.raisedAtMs) };
}

export function toPresentAlert(alert: PresentAlert): Static<typeof presentAlertSchema> {
  return {
    id: alert.id,
    kind: alert.kind,
    carrier: alert.carrier,
    country: alert.country,
    application_id: alert.applicationId,
    summary: alert.summary,
    advice: alert.advice,
    since: toTimestamp(alert.sinceMs),
    raised_at: timestampOrNull(alert.raisedAtMs),
    told_at: timestampOrNull(alert.reportedAtMs),
    cleared_at: timestampOrNull(alert.clearedAtMs),
  };
}

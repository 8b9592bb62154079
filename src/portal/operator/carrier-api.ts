// Tests: test/contract/operator-carriers.test.ts, test/contract/operator-http-carriers.test.ts
import { Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import type { CarrierLogService } from '../../delivery/carrier/log-service.ts';
import { httpSettingsSchema } from '../../delivery/http/settings.ts';
import type { CarrierService, LiveCarrier } from '../../delivery/setup/service.ts';
import type { CarrierTestService } from '../../delivery/setup/test-service.ts';
import { smppSettingsSchema } from '../../delivery/smpp/settings.ts';
import { pageQuery, pageSchema, readPage, toPage } from '../../http/list-page.ts';
import { itemKeyword } from '../../http/request/validation.ts';
import { type Call, type Route, route } from '../../http/route.ts';
import type { Environment } from '../../platform/environment.ts';
import { invalidField } from '../../platform/errors.ts';
import { carrierParams, carrierRoute, carrierSchema, carriersPath, toCarrier } from './carrier-record.ts';
import { createCarrierTestRoutes } from './carrier-test-api.ts';
import { createPresetRoutes } from './preset-api.ts';

export interface CarrierRoutesOptions {
  carriers: CarrierService;
  tests: CarrierTestService;
  logs: CarrierLogService;
  environment: Environment;
}

/** The service checks the settings, because they depend on the kind. */
const settings = (documented: object) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', [itemKeyword]: documented });

const smppSettings = Type.Object(smppSettingsSchema.properties, {
  title: 'SmppSettingsToSet',
  additionalProperties: false,
});
const httpSettings = Type.Object(httpSettingsSchema.properties, { title: 'HttpSettingsToSet' });

const createBody = Type.Object(
  {
    name: Type.String({
      maxLength: 32,
      shownPattern: '^[a-z][a-z0-9-]{1,31}$',
      examples: ['acme'],
      expected: '2 to 32 lower-case letters, digits or hyphens, beginning with a letter',
    }),
    kind: Type.String({ maxLength: 32, examples: ['smpp'], expected: 'smpp or http' }),
    settings: settings(
      Type.Union([smppSettings, httpSettings], {
        examples: [{ host: '127.0.0.1', system_id: 'acme', password: 'secret' }],
      }),
    ),
  },
  { title: 'CarrierToCreate' },
);
const changeBody = Type.Object(
  {
    settings: settings(
      Type.Union(
        [
          Type.Partial(smppSettingsSchema, { title: 'SmppSettingsChange' }),
          Type.Partial(httpSettingsSchema, { title: 'HttpSettingsChange' }),
        ],
        { examples: [{ per_second: 20 }] },
      ),
    ),
  },
  { title: 'CarrierChange' },
);

/** Carriers, for operators (section 14 of the contract). */
export function createCarrierRoutes(options: CarrierRoutesOptions, audit: Audit): Route[] {
  const { carriers } = options;
  const found = { 200: { description: 'The carrier', schema: carrierSchema } };
  const note = (call: Call<{ name: string }>, act: AuditEntry['act']) =>
    audit.note(call, { act, id: call.params.name });
  const shown = async (carrier: Promise<LiveCarrier>) => ({ status: 200, body: toCarrier(await carrier) });
  return [
    route({
      method: 'POST',
      path: carriersPath,
      ...carrierRoute,
      operationId: 'createCarrier',
      summary: 'Connect a carrier',
      description: 'Every worker connects it within 2 seconds. Secrets are stored and never shown.',
      body: createBody,
      answers: {
        201: { description: 'The carrier, without its secrets', schema: carrierSchema, headers: ['Location'] },
      },
      refuses: {
        ALREADY_EXISTS: 'A carrier with this name exists',
        INCOMPATIBLE_STATE: 'The number of carriers is at its maximum',
      },
      handler: async (call) => {
        const { name, kind } = call.body;
        const note = audit.note(call, { act: 'carrier.created', id: name, details: { kind } });
        const carrier = await carriers.create(call.body, note);
        return { status: 201, body: toCarrier(carrier), location: `${carriersPath}/${carrier.name}` };
      },
    }),
    route({
      method: 'GET',
      path: carriersPath,
      ...carrierRoute,
      operationId: 'listCarriers',
      summary: 'List carriers with the state of each connection, newest first',
      query: Type.Object(pageQuery),
      answers: { 200: { description: 'A page of carriers', schema: pageSchema(carrierSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await carriers.list(limit + 1, readCursorId(after));
        const body = toPage(
          rows.map((carrier) => ({ id: cursorIdOf(carrier.id), carrier })),
          limit,
          ({ carrier }) => toCarrier(carrier),
        );
        return { status: 200, body };
      },
    }),
    route({
      method: 'GET',
      path: `${carriersPath}/{name}`,
      ...carrierRoute,
      operationId: 'getCarrier',
      summary: 'Read a carrier',
      params: carrierParams,
      answers: found,
      handler: (call) => shown(carriers.require(call.params.name)),
    }),
    route({
      method: 'PATCH',
      path: `${carriersPath}/{name}`,
      ...carrierRoute,
      operationId: 'changeCarrier',
      summary: 'Change settings of a carrier',
      description:
        'A merge patch (RFC 7396): settings that are not named stay, secrets too; null sets the default or removes. ' +
        'A change of where secrets go (host, port, hosts, tls; preset, describe, base, ca) must give them again: a 400 ' +
        'names each that is missing. Texts in flight finish on the old connections.',
      params: carrierParams,
      body: changeBody,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'Others are changing the carrier at the same time' },
      handler: (call) => {
        const { name } = call.params;
        // Settings may be secrets, so the log has only their names.
        const details = { settings: Object.keys(call.body.settings) };
        const note = audit.note(call, { act: 'carrier.changed', id: name, details });
        return shown(carriers.change(name, call.body.settings, note));
      },
    }),
    route({
      method: 'DELETE',
      path: `${carriersPath}/{name}`,
      ...carrierRoute,
      operationId: 'deleteCarrier',
      summary: 'Delete a carrier',
      description:
        'Refused (409) while a route names it, it has texts to send or awaits receipts, unless force is true.',
      params: carrierParams,
      query: Type.Object({
        force: Type.Boolean({ default: false, expected: 'true or false', description: 'Delete it nevertheless' }),
      }),
      answers: { 204: { description: 'Deleted' } },
      refuses: { INCOMPATIBLE_STATE: 'A route names it, it has texts to send, or it awaits receipts' },
      handler: async (call) => {
        const { name } = call.params;
        const { force } = call.query;
        await carriers.remove(
          name,
          { force },
          audit.note(call, { act: 'carrier.deleted', id: name, details: { force } }),
        );
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${carriersPath}/{name}/pause`,
      ...carrierRoute,
      operationId: 'pauseCarrier',
      summary: 'Pause a carrier: it sends no more texts and still takes receipts',
      params: carrierParams,
      answers: found,
      handler: (call) => shown(carriers.setPaused(call.params.name, true, note(call, 'carrier.paused'))),
    }),
    route({
      method: 'POST',
      path: `${carriersPath}/{name}/resume`,
      ...carrierRoute,
      operationId: 'resumeCarrier',
      summary: 'Resume a paused carrier',
      params: carrierParams,
      answers: found,
      handler: (call) => shown(carriers.setPaused(call.params.name, false, note(call, 'carrier.resumed'))),
    }),
    route({
      method: 'POST',
      path: `${carriersPath}/{name}/try`,
      ...carrierRoute,
      operationId: 'tryCarrier',
      summary: 'Connect now, without waiting for the next try',
      description:
        'Ends the wait of every connection that waits for its next try, on every node, within 2 seconds; later waits ' +
        'begin anew. Connections that are up stay.',
      params: carrierParams,
      answers: { 202: { description: 'The carrier, as it was before the try', schema: carrierSchema } },
      handler: async (call) => {
        const carrier = await carriers.tryNow(call.params.name, note(call, 'carrier.tried'));
        return { status: 202, body: toCarrier(carrier) };
      },
    }),
    route({
      method: 'POST',
      path: `${carriersPath}/{name}/renew-callbacks`,
      ...carrierRoute,
      operationId: 'renewCarrierCallbacks',
      summary: 'Give a carrier new addresses for its callbacks',
      description:
        'The old addresses answer 404 within 2 seconds. Receipts that a provider still sends there are lost.',
      params: carrierParams,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The carrier has no callbacks' },
      handler: (call) => shown(carriers.renewCallbacks(call.params.name, note(call, 'carrier.callbacks_renewed'))),
    }),
    ...createCarrierTestRoutes(options, audit),
    ...createPresetRoutes(),
  ];
}

/** Maximum of an integer in Postgres. */
const largestId = 2 ** 31 - 1;

/** A carrier's index in the list, in the format of cursors. */
function cursorIdOf(id: number): string {
  return `car_${String(id).padStart(26, '0')}`;
}

function readCursorId(cursorId: string | undefined): number | undefined {
  if (cursorId === undefined) return undefined;
  const id = cursorId.startsWith('car_') ? Number(cursorId.slice(4)) : Number.NaN;
  if (!Number.isInteger(id) || id > largestId) throw invalidField('cursor', 'must be a next_cursor of this list');
  return id;
}

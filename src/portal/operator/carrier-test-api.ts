// Tests: test/contract/operator-carriers.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import type { CarrierLogService } from '../../delivery/carrier/log-service.ts';
import type { CarrierTestService } from '../../delivery/setup/test-service.ts';
import { pageSchema, pathParameter, recordId } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import {
  longestNumber,
  numberPattern,
  numberProblem,
  requireNumber,
  rightNumber,
} from '../../messages/numbers/phone-number.ts';
import { longestSender, rightSender, senderProblem } from '../../messages/numbers/sender.ts';
import { longestText, rightText, textProblem } from '../../messages/text/text.ts';
import type { Environment } from '../../platform/environment.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { carrierParams, carrierRoute, carriersPath, logEntrySchema, testSchema, toTest } from './carrier-record.ts';

export interface CarrierTestRoutesOptions {
  tests: CarrierTestService;
  logs: CarrierLogService;
  environment: Environment;
}

const startedSchema = Type.Object({ id: recordId('tst') }, { title: 'StartedCarrierTest' });

/** The test of a carrier, and its log. */
export function createCarrierTestRoutes({ tests, logs, environment }: CarrierTestRoutesOptions, audit: Audit): Route[] {
  function check({ to, from, message }: Record<string, unknown>): FieldProblem[] {
    const found = {
      to: typeof to === 'string' ? numberProblem(to, environment) : undefined,
      from: typeof from === 'string' ? senderProblem(from) : undefined,
      message: typeof message === 'string' ? textProblem(message) : undefined,
    };
    return Object.entries(found).flatMap(([field, problem]) =>
      problem === undefined ? [] : [{ field, message: problem }],
    );
  }

  const testBody = Type.Object(
    {
      to: Type.String({ maxLength: longestNumber, expected: rightNumber, shownPattern: numberPattern }),
      from: Type.String({ maxLength: longestSender, default: 'Heliograph', expected: rightSender }),
      message: Type.String({
        maxLength: longestText,
        default: 'This text tests a carrier of Heliograph.',
        expected: rightText,
      }),
    },
    { title: 'CarrierTestToRun', check },
  );

  return [
    route({
      method: 'POST',
      path: `${carriersPath}/{name}/test`,
      ...carrierRoute,
      operationId: 'testCarrier',
      summary: 'Test a carrier: resolve its name, connect, bind, send one text, wait for its receipt',
      params: carrierParams,
      body: testBody,
      answers: { 202: { description: 'A worker will run the test', schema: startedSchema, headers: ['Location'] } },
      handler: async (call) => {
        const { to, from, message } = call.body;
        const { name } = call.params;
        // The audit entry has no number, because it may be a person's.
        const note = audit.note(call, { act: 'carrier.tested', id: name, details: { from } });
        const id = await tests.start(name, { to: requireNumber(to), from, message }, note);
        return { status: 202, body: { id }, location: `${carriersPath}/${name}/test/${id}` };
      },
    }),
    route({
      method: 'GET',
      path: `${carriersPath}/{name}/test/{id}`,
      ...carrierRoute,
      operationId: 'getCarrierTest',
      summary: 'Read the steps of a test; a test is kept for a day',
      params: Type.Object({ ...carrierParams.properties, id: pathParameter }),
      answers: { 200: { description: 'The test and the steps so far', schema: testSchema } },
      handler: async (call) => ({ status: 200, body: toTest(await tests.require(call.params.name, call.params.id)) }),
    }),
    route({
      method: 'GET',
      path: `${carriersPath}/{name}/log`,
      ...carrierRoute,
      operationId: 'getCarrierLog',
      summary: 'Read the last 200 PDUs of a carrier, newest first',
      description: 'Without texts, secrets and numbers. It can take 2 seconds, until the workers have written it.',
      params: carrierParams,
      answers: { 200: { description: 'The PDUs', schema: pageSchema(logEntrySchema) } },
      handler: async (call) => ({ status: 200, body: { data: await logs.read(call.params.name), next_cursor: null } }),
    }),
  ];
}

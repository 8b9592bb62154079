// Tests: test/contract/templates.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageSchema, pathParameter } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { type FieldProblem, invalidField, notFound } from '../../platform/errors.ts';
import type { SendingService } from '../../registry/sending-service.ts';
import type { StoredTemplate } from '../../registry/sending-store.ts';
import { longestTemplate, templateProblem } from '../../verify/texts/country-template.ts';

const base = '/portal/v1/operator/applications/{id}/templates';
const params = Type.Object({ id: pathParameter, country: pathParameter });
const templateSchema = Type.Object(
  {
    country: Type.String({ examples: ['IN'] }),
    text: Type.String({ examples: ['{{code}} is your code for ACME.'] }),
    template_id: nullable(Type.String({ description: 'Its registration id at carriers' })),
    updated_at: Type.String(),
  },
  { title: 'Template' },
);
export type TemplateRecord = Static<typeof templateSchema>;
export const templateFields = {
  text: Type.String({
    maxLength: longestTemplate,
    expected: 'a text of one segment with {{code}}',
    examples: ['{{code}} is your code for ACME.'],
  }),
  template_id: Type.Optional(
    nullable(
      Type.String({
        maxLength: 64,
        pattern: '^[\\x21-\\x7e]{1,64}$',
        expected: '1 to 64 visible ASCII characters, or null',
      }),
    ),
  ),
};
const templateBody = Type.Object(templateFields, { title: 'TemplateToSet', check: checkText });

export function checkText({ text }: Record<string, unknown>): FieldProblem[] {
  const problem = typeof text === 'string' ? templateProblem(text) : undefined;
  return problem === undefined ? [] : [{ field: 'text', message: problem }];
}

/** The text of an application's codes, by country. India, for example, requires the registration of each text. */
export function createTemplateRoutes(sending: SendingService, audit: Audit): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  return [
    route({
      method: 'GET',
      path: base,
      ...shared,
      operationId: 'listTemplates',
      summary: "List the texts of an application's codes by country",
      params: Type.Object({ id: pathParameter }),
      answers: { 200: { description: 'All of them', schema: pageSchema(templateSchema) } },
      handler: async (call) => {
        const rows = await sending.listTemplates(call.params.id);
        return { status: 200, body: { data: rows.map(toTemplate), next_cursor: null } };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{country}`,
      ...shared,
      operationId: 'getTemplate',
      summary: "Read the text of an application's codes to a country",
      params,
      answers: { 200: { description: 'The template', schema: templateSchema } },
      handler: async ({ params: { id, country } }) => ({
        status: 200,
        body: toTemplate(await sending.requireTemplate(id, country.toUpperCase())),
      }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{country}`,
      ...shared,
      operationId: 'putTemplate',
      summary: "Set the text of an application's codes to a country",
      description:
        'It has {{code}} once, may have {{minutes}}, and fits one segment with a code of ten digits. It replaces the whole text: locale and autofill of a start have no effect.',
      params,
      body: templateBody,
      answers: { 200: { description: 'The template', schema: templateSchema } },
      handler: async (call) => {
        const { id } = call.params;
        const { text, template_id: templateId = null } = call.body;
        const code = call.params.country.toUpperCase();
        if (!isCountry(code)) throw invalidField('country', 'must be an ISO country code, like IN');
        const note = audit.note(call, { act: 'template.changed', id, details: { country: code, text } });
        return { status: 200, body: toTemplate(await sending.putTemplate(id, code, { text, templateId }, note)) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{country}`,
      ...shared,
      operationId: 'deleteTemplate',
      summary: "Restore our text for an application's codes to a country",
      params,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id } = call.params;
        const code = call.params.country.toUpperCase();
        if (!isCountry(code)) throw notFound();
        await sending.removeTemplate(
          id,
          code,
          audit.note(call, { act: 'template.deleted', id, details: { country: code } }),
        );
        return { status: 204 };
      },
    }),
  ];
}

function toTemplate({ country, text, templateId, updatedAtMs }: StoredTemplate) {
  return { country, text, template_id: templateId, updated_at: toTimestamp(updatedAtMs) };
}

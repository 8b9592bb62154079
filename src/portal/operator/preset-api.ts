// Tests: test/contract/operator-carriers.test.ts
import { type Static, Type } from 'typebox';
import { presetNames, presets } from '../../delivery/http/presets/presets.ts';
import { nullable, pageSchema } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { carrierRoute } from './carrier-record.ts';

const presetSchema = Type.Object(
  {
    name: Type.String({ description: 'The value for settings.preset', examples: ['twilio'] }),
    title: Type.String({ examples: ['Twilio'] }),
    base: nullable(Type.String({ description: 'The address of its API; null where each account has its own' })),
    base_help: nullable(Type.String()),
    fields: Type.Array(
      Type.Object({
        name: Type.String({ description: 'A setting', examples: ['auth_token'] }),
        help: Type.String({ examples: ['The auth token of the account'] }),
        secret: Type.Boolean({ description: 'It is sealed and never shown' }),
        required: Type.Boolean(),
        choices: nullable(Type.Array(Type.String())),
      }),
    ),
  },
  { title: 'CarrierPreset' },
);
export type PresetRecord = Static<typeof presetSchema>;

/** The settings of each known provider, so that a page can ask for them. */
export function createPresetRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/carrier-presets',
      ...carrierRoute,
      operationId: 'listCarrierPresets',
      summary: 'List the providers that a carrier of kind http can name as its preset, with their settings',
      answers: { 200: { description: 'All of them', schema: pageSchema(presetSchema) } },
      handler: async () => ({ status: 200, body: { data: presetNames.map(toPreset), next_cursor: null } }),
    }),
  ];
}

function toPreset(name: (typeof presetNames)[number]): PresetRecord {
  const { title, base = null, baseHelp = null, fields } = presets[name];
  return {
    name,
    title,
    base,
    base_help: baseHelp,
    fields: Object.entries(fields).map(([field, { help, secret = false, required = true, choices = null }]) => ({
      name: field,
      help,
      secret,
      required,
      choices: choices === null ? null : [...choices],
    })),
  };
}

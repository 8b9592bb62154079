import { africasTalking } from './africas-talking.ts';
import { infobip } from './infobip.ts';
import { plivo } from './plivo.ts';
import type { Preset } from './preset.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { vonageSms } from './vonage-sms.ts';

export type { Preset } from './preset.ts';

export const presetNames = ['twilio', 'vonage-sms', 'infobip', 'telnyx', 'plivo', 'africas-talking'] as const;
export type PresetName = (typeof presetNames)[number];

export const presets: Record<PresetName, Preset> = {
  twilio,
  'vonage-sms': vonageSms,
  infobip,
  telnyx,
  plivo,
  'africas-talking': africasTalking,
};

/** A field that is secret in one preset is secret in all, so that a change of preset exposes none. */
export const secretFieldNames: readonly string[] = [
  ...new Set(
    Object.values(presets).flatMap(({ fields }) =>
      Object.entries(fields).flatMap(([field, { secret }]) => (secret === true ? [field] : [])),
    ),
  ),
];

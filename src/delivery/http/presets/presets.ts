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

/** What is a secret under any preset is one under all: a change of preset makes no secret readable. */
export const secretFieldNames: readonly string[] = [
  ...new Set(
    Object.values(presets).flatMap(({ fields }) =>
      Object.entries(fields).flatMap(([field, { secret }]) => (secret === true ? [field] : [])),
    ),
  ),
];

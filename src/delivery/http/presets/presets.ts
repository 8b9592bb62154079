import { africasTalking } from './africas-talking.ts';
import { infobip } from './infobip.ts';
import { infobipVoice } from './infobip-voice.ts';
import { infobipWhatsapp } from './infobip-whatsapp.ts';
import { plivo } from './plivo.ts';
import type { Preset } from './preset.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { twilioVoice } from './twilio-voice.ts';
import { twilioWhatsapp } from './twilio-whatsapp.ts';
import { vonageSms } from './vonage-sms.ts';
import { vonageVoice } from './vonage-voice.ts';
import { whatsappCloud } from './whatsapp-cloud.ts';

export type { Preset, PresetField } from './preset.ts';

const all = {
  twilio,
  'vonage-sms': vonageSms,
  infobip,
  telnyx,
  plivo,
  'africas-talking': africasTalking,
  'twilio-voice': twilioVoice,
  'vonage-voice': vonageVoice,
  'infobip-voice': infobipVoice,
  'whatsapp-cloud': whatsappCloud,
  'infobip-whatsapp': infobipWhatsapp,
  'twilio-whatsapp': twilioWhatsapp,
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof all;
export const presets: Readonly<Record<PresetName, Preset>> = all;
export const presetNames = Object.keys(presets) as PresetName[];

/** A field that is secret in one preset is secret in all, so that a change of preset exposes none. */
export const secretFieldNames: readonly string[] = [
  ...new Set(
    Object.values(presets).flatMap(({ fields }) =>
      Object.entries(fields).flatMap(([field, { secret }]) => (secret === true ? [field] : [])),
    ),
  ),
];

import type { CodeProvider } from './code-provider.ts';
import { infobipVoice, infobipWhatsapp } from './infobip-codes.ts';
import { twilioVoice } from './twilio-voice.ts';
import { twilioWhatsapp } from './twilio-whatsapp.ts';
import { vonageVoice } from './vonage-voice.ts';
import { whatsappCloud } from './whatsapp-cloud.ts';

/** The doubles of all presets for calls and WhatsApp messages. */
export const codeProviders: CodeProvider[] = [
  twilioVoice,
  vonageVoice,
  infobipVoice,
  whatsappCloud,
  infobipWhatsapp,
  twilioWhatsapp,
];

import type { Preset } from './preset.ts';
import { twilio } from './twilio.ts';

export type { Preset } from './preset.ts';

export const presetNames = ['twilio'] as const;
export type PresetName = (typeof presetNames)[number];

export const presets: Record<PresetName, Preset> = { twilio };

import { operatorPath } from '../../api/call.ts';
import type { Preset } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';
import { describedGroup, httpGroup, type SettingGroup, smppGroups } from './setting-fields.ts';

/** The service's presets for providers; undefined until they are loaded. */
export function usePresets(): Preset[] | undefined {
  return useLoad<Page<Preset>>(operatorPath('carrier-presets')).data?.data;
}

/** The kinds of carriers to choose from: SMPP, each preset, any other HTTP API. */
export function choicesOf(presets: Preset[]): { value: string; label: string }[] {
  return [
    { value: 'smpp', label: words.kinds.smpp },
    ...presets.map(({ name, title }) => ({ value: `http ${name}`, label: title })),
    { value: 'http', label: words.kinds.http },
  ];
}

export function kindOf(choice: string): { kind: string; preset: string | undefined } {
  const [kind = '', preset] = choice.split(' ');
  return { kind, preset };
}

/** The settings to ask for. */
export function groupsOf(kind: string, preset: unknown, presets: Preset[]): SettingGroup[] {
  if (kind === 'smpp') return smppGroups;
  const chosen = presets.find(({ name }) => name === preset);
  return [chosen === undefined ? describedGroup : presetGroup(chosen), httpGroup];
}

function presetGroup({ title, fields, base, base_help }: Preset): SettingGroup {
  return {
    title,
    fields: [
      ...fields.map(({ name, help, secret, required, choices }) => ({
        name,
        label: labelOf(name),
        type: choices !== null ? ('choice' as const) : secret ? ('secret' as const) : ('text' as const),
        description: required ? help : words.kinds.optional(help),
        ...(choices !== null && { choices: toChoices(choices, required) }),
      })),
      {
        name: 'base',
        label: words.fields.base,
        type: 'text' as const,
        ...(base_help !== null && { description: base_help }),
        ...(base !== null && { placeholder: base }),
      },
    ],
  };
}

function toChoices(choices: string[], required: boolean): { value: string; label: string }[] {
  const all = choices.map((value) => ({ value, label: value }));
  return required ? all : [{ value: '', label: '–' }, ...all];
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/\b(?:api|sid|url)\b/g, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

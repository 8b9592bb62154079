import type { FieldProblem } from '../../../platform/errors.ts';

const form = /^[a-z]{2,3}(?:_[A-Za-z]{2,4})?(?:,[a-z]{2,3}(?:_[A-Za-z]{2,4})?){0,40}$/;

/** The languages that an approved template of WhatsApp has, as Meta names them. */
export const languagesField = { help: 'The languages of the template, the default first, like en_US,de,pt_BR' };

export function languagesProblem({ template_languages: given }: Record<string, unknown>): FieldProblem[] {
  if (typeof given === 'string' && form.test(given)) return [];
  return [
    { field: 'settings.template_languages', message: 'must be codes with commas between them, like en_US,de,pt_BR' },
  ];
}

/** Meta's name for each of our languages. If the template has no English, its first language is used for `en`. */
export function templateLanguages({ template_languages: given }: Record<string, unknown>): Record<string, string> {
  const names = typeof given === 'string' ? given.split(',') : [];
  const [usual = 'en'] = names;
  const own = names.toReversed().map((name) => [ourName(name), name] as const);
  return { en: usual, ...Object.fromEntries(own) };
}

const ourNames: Readonly<Record<string, string>> = { zh_CN: 'zh-Hans', zh_HK: 'zh-Hant', zh_TW: 'zh-Hant' };

function ourName(name: string): string {
  return ourNames[name] ?? name.split('_', 1)[0] ?? name;
}

import type { Setting } from '../../src/settings/kinds.ts';
import { settings } from '../../src/settings/settings.ts';

const all = Object.entries<Setting<unknown>>(settings).map(([name, { help, bounds, ...setting }]) => {
  return { name, ...setting, help: bounds === undefined ? help : `${help} (${bounds})` };
});

/** .env.example: every setting with its help and default. */
export function envExample(): string {
  const head = [
    '# Every setting with its default. Copy this file to .env and remove the # from each setting you change.',
    '# The environment overrides the file.',
  ];
  const lines = all.flatMap(({ name, help, fallback }) => ['', `# ${help}`, `#${name}=${fallback ?? ''}`]);
  return `${[...head, ...lines].join('\n')}\n`;
}

/** docs/settings.md with a new table at its end. */
export function settingsDocument(written: string): string {
  const head = '| Setting | Default | Meaning |\n|---|---|---|\n';
  const [introduction = ''] = written.split(head);
  const rows = all.map(({ name, help, fallback, unset, more }) => {
    const byDefault = unset ?? (fallback ? `\`${fallback}\`` : 'none');
    return `| \`${name}\` | ${byDefault} | ${help}${more === undefined ? '' : `. ${more}`} |\n`;
  });
  return introduction + head + rows.join('');
}

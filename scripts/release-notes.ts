/** The section of a version in CHANGELOG.md; in a draft that of the changes to come. Undefined without one. */
export function releaseNotes(changelog: string, version: string, isDraft: boolean): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(`${version} `) || section.startsWith(`${version}\n`));
  const coming = sections.find((section) => section.startsWith('Unreleased'));
  const text = (isDraft ? (coming ?? own) : own)?.replace(/^.*\n/, '').trim();
  return text === '' ? undefined : text;
}

import { isId } from '../../platform/ids.ts';
import type { Problems } from './problems.ts';

/** The applications that senders, numbers and routes of a file can name: by id, or by the name that the file gives. */
export interface KnownApplications {
  /** The id; adds a problem if there is no such application. */
  resolve(written: string, path: string, problems: Problems): string;
  /** The application's name for people to read. */
  labelOf(id: string): string;
}

export interface NamedApplication {
  id: string;
  name: string;
}

export function createKnownApplications(
  declared: readonly NamedApplication[],
  stored: ReadonlyMap<string, string>,
): KnownApplications {
  const byName = new Map<string, string[]>();
  for (const { id, name } of declared) byName.set(name, [...(byName.get(name) ?? []), id]);
  const ids = new Set(declared.map(({ id }) => id));
  const labels = new Map([...byName].flatMap(([name, own]) => (own.length === 1 ? [[own[0] ?? '', name]] : [])));
  return {
    resolve(written, path, problems) {
      if (isId('app', written)) {
        if (!ids.has(written) && !stored.has(written)) problems.add(path, 'must be the id of an existing application');
        return written;
      }
      const [id, another] = byName.get(written) ?? [];
      if (id === undefined)
        problems.add(path, 'must be the id of an application, or a name that "applications" of this file has');
      else if (another !== undefined)
        problems.add(
          path,
          `must be an id: "applications" of this file has the name ${JSON.stringify(written)} more than once`,
        );
      return id ?? written;
    },
    labelOf: (id) => labels.get(id) ?? id,
  };
}

import { Type } from 'typebox';
import type { Planning } from './planning.ts';

/** How an entry names its application: one of the two. */
export const namedApplication = {
  application: Type.Optional(Type.String({ maxLength: 64, expected: 'the name of an application of this file' })),
  application_id: Type.Optional(Type.String({ maxLength: 64, expected: 'the id of an application' })),
};

/** The id of the application that an entry names. */
export function applicationOf(
  given: { application?: unknown; application_id?: unknown },
  path: string,
  { applications, problems }: Pick<Planning, 'applications' | 'problems'>,
): string | undefined {
  const { application: name, application_id: id } = given;
  if ((name === undefined) === (id === undefined)) {
    const what = 'the id of an application, or application: a name that "applications" of this file has';
    problems.add(
      `${path}.application_id`,
      id === undefined ? `is required: ${what}` : 'must not be beside application',
    );
    return undefined;
  }
  const written = name ?? id;
  const field = id === undefined ? 'application' : 'application_id';
  return typeof written === 'string' ? applications.resolve(written, `${path}.${field}`, problems) : undefined;
}

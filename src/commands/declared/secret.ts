import { Type } from 'typebox';
import { isObject } from '../../platform/is-object.ts';
import type { Problems } from './problems.ts';

/** Reads a variable of the environment: a file names one instead of a secret. */
export type ReadEnv = (name: string) => string | undefined;

const longestName = 128;
export const rightSecret = 'an object like {"env": "NAME"}: the variable NAME of the environment has the secret';

/** A secret in a file. */
export const secretSchema = Type.Object(
  {
    env: Type.String({
      maxLength: longestName,
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      expected: 'the name of a variable of the environment',
    }),
  },
  { expected: rightSecret },
);

/** The secret that a file names, if its variable is set. */
export function revealed(
  secret: { env: string } | undefined,
  path: string,
  { readEnv, problems }: { readEnv: ReadEnv; problems: Problems },
): string | undefined {
  if (secret === undefined) return undefined;
  const found = readEnv(secret.env);
  if (found === undefined || found === '') {
    problems.add(path, `names ${secret.env}, which is not set in the environment`);
    return undefined;
  }
  return found;
}

export function namesVariable(value: unknown): value is { env: string } {
  return isObject(value) && typeof value.env === 'string' && Object.keys(value).length === 1;
}

import type { HookDetail } from '../../api/types.ts';
import { auth0Action } from './auth0.ts';
import { genericSample } from './generic.ts';
import { kratosSample } from './kratos.ts';

/** The code or configuration that a server needs besides plain settings, to be pasted there. */
export function sampleOf(
  { kind, url, pointers }: Pick<HookDetail, 'kind' | 'url' | 'pointers'>,
  secret: string,
): { name: 'kratos' | 'auth0' | 'generic'; text: string } | undefined {
  if (kind === 'kratos') return { name: kind, text: kratosSample(url, secret) };
  if (kind === 'auth0') return { name: kind, text: auth0Action };
  if (kind === 'generic') return { name: kind, text: genericSample(url, secret, pointers) };
  return undefined;
}

import { Type } from 'typebox';
import type { Role } from '../../http/route.ts';

/** What a member may do. */
export const roleSchema = Type.Unsafe<Role>({
  type: 'string',
  enum: ['viewer', 'developer', 'owner'] satisfies Role[],
  description: '`viewer` reads; `developer` also changes applications; `owner` also manages members',
  examples: ['developer'],
});

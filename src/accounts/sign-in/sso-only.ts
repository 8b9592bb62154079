import { ApiError } from '../../platform/errors.ts';

/** Where single sign-on is the only way in. */
export function ssoOnly(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'This service has no passwords. Sign in by single sign-on.');
}

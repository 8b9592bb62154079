import { ApiError } from '../../platform/errors.ts';

/** The error where single sign-on is the only way in. */
export function ssoOnly(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'This service has no passwords. Sign in by single sign-on.');
}

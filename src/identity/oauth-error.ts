/** An error response of RFC 6749, section 5.2. */
export interface OAuthRefusal {
  status: 400 | 401;
  error: OAuthCode;
  error_description: string;
}

export type OAuthCode = 'invalid_request' | 'invalid_client' | 'invalid_scope' | 'unsupported_grant_type';

const descriptions: Record<OAuthCode, string> = {
  invalid_request: 'The request is malformed.',
  invalid_client: 'Client authentication failed.',
  invalid_scope:
    'Request openid and exactly one of verify:manage or messaging:send, for an API that the application is registered and approved for.',
  unsupported_grant_type: 'Only client_credentials is supported.',
};

/** Descriptions are fixed texts: they never repeat anything from the request. */
export function oauthError(error: OAuthCode, description = descriptions[error]): OAuthRefusal {
  return { status: error === 'invalid_client' ? 401 : 400, error, error_description: description };
}

import type { Auth, Scope } from '../route.ts';

const scopes: Record<Scope | 'openid', string> = {
  openid: 'Asked for with every token',
  'verify:manage': 'The Verification API',
  'messaging:send': 'The Messaging API',
};

export function securitySchemes({ tokenUrl, sessionCookie }: { tokenUrl: string; sessionCookie: string }): object {
  return {
    apikey: {
      type: 'apiKey',
      in: 'header',
      name: 'apikey',
      description: 'A key of an application registered for the SMS Messaging API',
    },
    oauth2: {
      type: 'oauth2',
      description: 'A token of an application: a JWT, sent as a bearer token. Ask for `openid` and one other scope',
      flows: { clientCredentials: { tokenUrl, scopes } },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description: 'The client id and the client secret of an application; the form can have them instead',
    },
    sid: {
      type: 'http',
      scheme: 'basic',
      description: "The account sid and the auth token of an application, as Twilio's libraries send them",
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description: 'The session of a developer or an operator, set by signing in to the portal',
    },
    metrics: { type: 'http', scheme: 'bearer', description: 'HELIOGRAPH_METRICS_TOKEN' },
  };
}

/** The alternative credentials of a route. An empty object means that none is needed. */
export function securityOf(auth: Auth): Record<string, string[]>[] {
  switch (auth.kind) {
    case 'none':
    case 'visitor':
    case 'returning':
    case 'callback':
    case 'hook':
      return [];
    case 'client':
      return [{ client: [] }, {}];
    case 'metrics':
      return [{ metrics: [] }, {}];
    case 'sid':
      return [{ sid: [] }];
    case 'apikey':
      return [{ apikey: [] }];
    case 'bearer':
      return [{ oauth2: auth.scope === undefined ? [] : ['openid', auth.scope] }];
    case 'person':
    case 'developer':
    case 'try':
    case 'operator':
      return [{ session: [] }];
  }
}

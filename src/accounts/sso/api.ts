// Tests: test/sso/sign-in.test.ts, test/sso/joining.test.ts
import { Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { type Call, type Reply, type Route, requireDeveloper, requireReturning, route } from '../../http/route.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Joined, SsoService } from './service.ts';

const tag = 'Developer portal: account';
const without = { NOT_FOUND: 'The service has no single sign-on' } as const;

const addressSchema = Type.Object(
  {
    url: Type.String({
      description: 'Go there',
      examples: ['https://login.example.com/authorize?client_id=heliograph'],
    }),
  },
  { title: 'SingleSignOnStart' },
);
const ended = Type.Object(
  {
    logout_url: nullable(
      Type.String({
        description: 'Go there to end the session at the provider too; null when it has no such page',
        examples: ['https://login.example.com/logout?client_id=heliograph'],
      }),
    ),
  },
  { title: 'SingleSignOnEnd' },
);

const returnTo = Type.String({
  maxLength: 512,
  // A path of the portal: it cannot lead to another host.
  pattern: '^/(?:[A-Za-z0-9_~.?&=%+,:-][A-Za-z0-9_~./?&=%+,:-]*)?$',
  expected: 'a path of the portal, like /applications',
  description: 'The page to show after the sign-in',
  examples: ['/applications'],
});

const given = (maxLength: number, description: string, example: string) =>
  Type.Optional(Type.String({ maxLength, description, examples: [example] }));

const withPassword = (title: string) => Type.Object({ current_password: Type.String({ maxLength: 1024 }) }, { title });

/** Sign-in at the provider of a company. Without the settings every route answers 404. */
export function createSsoRoutes(sso: SsoService | undefined, audit: Audit): Route[] {
  const started = {
    201: { description: 'The address of the provider', schema: addressSchema, headers: ['Set-Cookie' as const] },
  };
  const outside = { tag, bulkhead: 'outside' } as const;
  const toProvider = ({ address, cookie }: { address: string; cookie: string }): Reply => ({
    ...{ status: 201, body: { url: address }, cookie },
  });
  return [
    route({
      method: 'POST',
      path: '/portal/v1/sso/attempts',
      auth: { kind: 'visitor' },
      ...outside,
      operationId: 'beginSingleSignOn',
      summary: 'Begin to sign in by single sign-on',
      body: Type.Object({ return_to: Type.Optional(returnTo) }, { title: 'SingleSignOnToStart' }),
      answers: started,
      refuses: without,
      handler: async ({ body }) => toProvider(await require(sso).beginSignIn(body.return_to ?? '/')),
    }),
    route({
      method: 'POST',
      path: '/portal/v1/me/sso',
      auth: { kind: 'person' },
      ...outside,
      operationId: 'beginToJoinSingleSignOn',
      summary: 'Begin to join your identity at the provider to your account',
      body: withPassword('SingleSignOnToJoin'),
      answers: started,
      refuses: { ...without, INCOMPATIBLE_STATE: 'Your account has joined an identity already' },
      handler: async (call) => {
        const { personId, sessionHash } = requireDeveloper(call);
        const service = require(sso);
        if (await service.hasIdentity(personId)) throw joined();
        const self = { personId, sessionHash, address: call.address };
        return toProvider(await service.beginJoin(self, call.body.current_password));
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/me/sso/leave',
      auth: { kind: 'person' },
      tag,
      operationId: 'leaveSingleSignOn',
      bulkhead: 'none',
      summary: 'Take your identity at the provider away from your account',
      description: 'Ends every session that the identity opened, perhaps also the current one. Your password stays.',
      body: withPassword('SingleSignOnToLeave'),
      answers: { 204: { description: 'Left' } },
      refuses: {
        ...without,
        INCOMPATIBLE_STATE: 'Your account has joined no identity or has no password, or passwords are off',
      },
      handler: async (call) => {
        const { personId, sessionHash } = requireDeveloper(call);
        const service = require(sso);
        const self = { personId, sessionHash, address: call.address };
        await service.leave(self, call.body.current_password, noteOf(audit, call, 'identity.left', service));
        return { status: 204 };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/sso/callback',
      auth: { kind: 'returning' },
      ...outside,
      operationId: 'endSingleSignOn',
      summary: 'Where the provider sends the browser back to',
      description: 'It always leads to a page of the portal, which says what happened.',
      query: Type.Object({
        code: given(4096, 'The authorization code, exchanged for tokens', 'SplxlOBeZQQYbYS6WxSbIA'),
        state: given(256, 'The `state` of the sign-in attempt', 'af0ifjsldkj'),
        iss: given(2048, 'The issuer (RFC 9207)', 'https://login.example.com'),
        error: given(256, 'Why the provider refused', 'access_denied'),
        error_description: given(2048, 'The reason in words', 'You refused.'),
      }),
      answers: { 303: { description: 'To a page of the portal', headers: ['Location', 'Set-Cookie'] } },
      refuses: without,
      handler: (call) => finish(require(sso), audit, call),
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/sso/session',
      auth: { kind: 'person' },
      ...outside,
      operationId: 'signOutOfSingleSignOn',
      summary: 'Sign out, and learn where the session at the provider ends',
      answers: { 200: { description: 'Signed out', schema: ended, headers: ['Set-Cookie'] } },
      refuses: without,
      handler: async (call) => {
        const { address, cookie } = await require(sso).signOut(requireDeveloper(call).sessionHash);
        return { status: 200, body: { logout_url: address }, cookie };
      },
    }),
  ];
}

async function finish(sso: SsoService, audit: Audit, call: Call<unknown, Record<string, string>>): Promise<Reply> {
  const { attempt: token, sessionHash } = requireReturning(call);
  const query = new URLSearchParams(call.query);
  const note = noteOf(audit, call, 'identity.joined', sso);
  const { page, cookie } = await sso.finish({ token, sessionHash, query }, call.address, note);
  const headers = { 'Cache-Control': 'no-store' };
  return { status: 303, location: `/#${page}`, headers, ...(cookie !== undefined && { cookie }) };
}

function noteOf(audit: Audit, call: Call, act: AuditEntry['act'], { issuer }: SsoService) {
  return audit.note<Joined>(call, ({ personId, subject }) => ({
    ...{ act, id: personId, personId },
    details: { issuer, subject },
  }));
}

function require(sso: SsoService | undefined): SsoService {
  if (sso === undefined) throw notFound();
  return sso;
}

function joined(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'Your account has joined an identity at the provider already.');
}

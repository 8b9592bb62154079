// Tests: test/contract/portal-person.test.ts
import { type Static, Type } from 'typebox';
import { pathParameter } from '../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import { notFound } from '../platform/errors.ts';
import { newPassword, secondFactorCode } from './account-record.ts';
import type { Audit, AuditEntry } from './audit/audit.ts';
import type { PersonService } from './person-service.ts';
import type { Self } from './sign-in/self.ts';

const currentPassword = Type.String({ maxLength: 1024, description: 'Your current password' });

const sessionSchema = Type.Object(
  {
    id: Type.String({ examples: ['ses_5f1c0a9be2d44c3aa0b1c2d3e4f50617'] }),
    current: Type.Boolean({ description: 'Whether this request uses this session' }),
    address: Type.String({ description: 'Where the person signed in from' }),
    created_at: Type.String(),
    last_seen_at: Type.String(),
  },
  { title: 'Session' },
);

export type SessionRecord = Static<typeof sessionSchema>;

const factorSchema = Type.Object(
  {
    secret: Type.String({ examples: ['GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'] }),
    uri: Type.String({ description: 'For a QR code', examples: ['otpauth://totp/Heliograph:you%40example.com'] }),
  },
  { title: 'SecondFactorSecret' },
);

const recoverySchema = Type.Object(
  { recovery_codes: Type.Array(Type.String({ examples: ['7k3pq-x2m9d'] }), { description: 'Shown only once' }) },
  { title: 'RecoveryCodes' },
);

const needsLink = 'You are an operator without a second factor, and did not sign in by a link made on the machine';

/** A person's own password, sessions and second factor, and its deletion. */
export function createPersonRoutes(people: PersonService, audit: Audit): Route[] {
  /** Writes an audit entry about the caller. */
  const note = (call: Call, act: AuditEntry['act']) => audit.note(call, { act, id: requireDeveloper(call).personId });
  const shared = { auth: { kind: 'person' }, tag: 'Developer portal: account' } as const;
  return [
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/password',
      operationId: 'changePassword',
      bulkhead: 'none',
      summary: 'Change your password',
      description: 'Ends all your other sessions.',
      body: Type.Object({ current_password: currentPassword, password: newPassword }),
      answers: { 204: { description: 'Changed' } },
      handler: async (call) => {
        await people.changePassword(
          selfOf(call),
          call.body.current_password,
          call.body.password,
          note(call, 'password.changed'),
        );
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/portal/v1/me/sessions',
      operationId: 'listSessions',
      summary: 'List your sessions, the one used last first',
      answers: {
        200: {
          description: 'Your sessions',
          schema: Type.Object({ data: Type.Array(sessionSchema) }, { title: 'Sessions' }),
        },
      },
      handler: async (call) => {
        const { personId, sessionHash } = requireDeveloper(call);
        const listed = await people.listSessions(personId);
        const data = listed.map(({ hash, address, createdAtMs, lastSeenAtMs }) => ({
          id: sessionId(hash),
          current: hash.equals(sessionHash),
          address,
          created_at: toTimestamp(createdAtMs),
          last_seen_at: toTimestamp(lastSeenAtMs),
        }));
        return { status: 200, body: { data } };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: '/portal/v1/me/sessions',
      operationId: 'endOtherSessions',
      summary: 'Sign out everywhere else',
      answers: { 204: { description: 'All your other sessions have ended' } },
      handler: async (call) => {
        await people.endOtherSessions(selfOf(call), note(call, 'session.others_ended'));
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: '/portal/v1/me/sessions/{session_id}',
      operationId: 'endSession',
      summary: 'End one of your sessions',
      params: Type.Object({ session_id: pathParameter }),
      answers: { 204: { description: 'Ended' } },
      handler: async (call) => {
        const [, hex] = /^ses_([0-9a-f]{32})$/.exec(call.params.session_id) ?? [];
        const { personId } = requireDeveloper(call);
        if (hex === undefined) throw notFound();
        const ended = audit.note(call, { act: 'session.ended', id: call.params.session_id });
        if (!(await people.endSession(personId, Buffer.from(hex, 'hex'), ended))) throw notFound();
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/second-factor',
      operationId: 'beginSecondFactor',
      bulkhead: 'none',
      summary: 'Begin to set up a second factor, or to replace it',
      description:
        'Put the secret into an authenticator app, then confirm it with a code. It takes effect with the confirmation. An operator without a second factor sets one up within 15 minutes of using a link made on the machine.',
      body: Type.Object({
        current_password: currentPassword,
        code: Type.Optional({
          ...secondFactorCode,
          description: 'To replace your current second factor: one of its codes, or a recovery code',
        }),
      }),
      answers: { 201: { description: 'The secret for your authenticator app, shown only once', schema: factorSchema } },
      refuses: { PERMISSION_DENIED: needsLink },
      handler: async (call) => {
        const { current_password: password, code } = call.body;
        return { status: 201, body: await people.beginSecondFactor(selfOf(call), password, code) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/second-factor/confirm',
      operationId: 'confirmSecondFactor',
      summary: 'Turn on the second factor with a first code',
      description: 'Ends all your other sessions.',
      body: Type.Object({ code: secondFactorCode }),
      answers: { 200: { description: 'Recovery codes, in case your phone is lost', schema: recoverySchema } },
      refuses: { INCOMPATIBLE_STATE: 'No secret was requested in the last 15 minutes', PERMISSION_DENIED: needsLink },
      handler: async (call) => {
        const noteIt = audit.note<{ replaced: boolean }>(call, ({ replaced }) => ({
          act: replaced ? 'second_factor.replaced' : 'second_factor.turned_on',
          id: requireDeveloper(call).personId,
        }));
        const codes = await people.confirmSecondFactor(selfOf(call), call.body.code, noteIt);
        return { status: 200, body: { recovery_codes: codes } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/second-factor/recovery-codes',
      operationId: 'renewRecoveryCodes',
      summary: 'Replace your recovery codes',
      body: Type.Object({ code: secondFactorCode }),
      answers: { 200: { description: 'New codes; the old ones no longer work', schema: recoverySchema } },
      handler: async (call) => {
        const codes = await people.renewRecoveryCodes(
          selfOf(call),
          call.body.code,
          note(call, 'second_factor.recovery_codes_renewed'),
        );
        return { status: 200, body: { recovery_codes: codes } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/second-factor/remove',
      operationId: 'removeSecondFactor',
      bulkhead: 'none',
      summary: 'Turn off the second factor',
      body: Type.Object({ current_password: currentPassword, code: secondFactorCode }),
      answers: { 204: { description: 'Your password alone signs you in' } },
      refuses: { INCOMPATIBLE_STATE: 'You are an operator, and the service requires a second factor of operators' },
      handler: async (call) => {
        const { current_password: password, code } = call.body;
        await people.removeSecondFactor(selfOf(call), { password, code }, note(call, 'second_factor.turned_off'));
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/portal/v1/me/delete',
      operationId: 'deleteAccount',
      bulkhead: 'none',
      summary: 'Delete yourself, and accounts that have no other member',
      description: 'Deletes the applications of these accounts. Their keys and tokens are refused at once.',
      body: Type.Object({ current_password: currentPassword }),
      answers: { 204: { description: 'Deleted', headers: ['Set-Cookie'] } },
      refuses: { INCOMPATIBLE_STATE: 'You are the last owner of an account with other members' },
      handler: async (call) => ({
        status: 204,
        ...(await people.deletePerson(selfOf(call), call.body.current_password, note(call, 'person.deleted'))),
      }),
    }),
  ];
}

function selfOf(call: Call): Self {
  const { personId, sessionHash } = requireDeveloper(call);
  return { personId, sessionHash, address: call.address };
}

/** The first half of the hash identifies the session, but cannot be used to sign in. */
function sessionId(hash: Buffer): string {
  return `ses_${hash.subarray(0, 16).toString('hex')}`;
}

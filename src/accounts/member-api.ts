// Tests: test/contract/portal-members.test.ts
import { type Static, Type } from 'typebox';
import { pathParameter, recordId } from '../http/list-page.ts';
import { exampleId } from '../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { AuditEntry } from './audit/audit.ts';
import { createInvitationRoutes, type MemberRoutesOptions } from './invitation-api.ts';
import type { Member } from './people/member-store.ts';
import { roleSchema } from './people/role.ts';

const memberSchema = Type.Object(
  {
    id: recordId('per'),
    email: Type.String(),
    role: roleSchema,
    second_factor: Type.Boolean({ description: 'Whether the person signs in with a second factor' }),
    joined_at: Type.String(),
  },
  { title: 'Member' },
);
export type MemberRecord = Static<typeof memberSchema>;

/** Members of the account that the session acts for, invitations, and the choice of the account. */
export function createMemberRoutes(options: MemberRoutesOptions): Route[] {
  const { people, members, audit } = options;
  const tag = 'Developer portal: members';
  const byPerson = { auth: { kind: 'person' }, tag } as const;
  const byMember = { auth: { kind: 'developer' }, tag } as const;
  const byOwner = { auth: { kind: 'developer', role: 'owner' }, tag } as const;
  const params = Type.Object({ person_id: pathParameter });
  const lastOwner = { INCOMPATIBLE_STATE: 'The person is the last owner' };
  return [
    route({
      ...byPerson,
      method: 'POST',
      path: '/portal/v1/sessions/current',
      operationId: 'switchAccount',
      summary: 'Act for another of your accounts',
      body: Type.Object({ account_id: Type.String({ maxLength: 64, examples: [exampleId('acc')] }) }),
      answers: { 204: { description: 'The session acts for this account from now on' } },
      refuses: { NOT_FOUND: 'You do not belong to this account' },
      handler: async (call) => {
        const { personId, sessionHash } = requireDeveloper(call);
        await people.switchAccount({ personId, sessionHash, address: call.address }, call.body.account_id);
        return { status: 204 };
      },
    }),
    route({
      ...byMember,
      method: 'GET',
      path: '/portal/v1/members',
      operationId: 'listMembers',
      summary: 'List the members of your account, the oldest first',
      answers: {
        200: {
          description: 'At most 50 members',
          schema: Type.Object({ data: Type.Array(memberSchema) }, { title: 'Members' }),
        },
      },
      handler: async (call) => {
        const rows = await members.list(requireDeveloper(call).accountId);
        return { status: 200, body: { data: rows.map(toMember) } };
      },
    }),
    route({
      ...byOwner,
      method: 'PATCH',
      path: '/portal/v1/members/{person_id}',
      operationId: 'changeRole',
      summary: "Change a member's role",
      params,
      body: Type.Object({ role: roleSchema }),
      answers: { 200: { description: 'The member; the role applies from the next request on', schema: memberSchema } },
      refuses: lastOwner,
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const { role } = call.body;
        const note = audit.note<Member>(call, (before) => ({
          act: 'member.role_changed',
          id: before.personId,
          details: { email: before.email, from: before.role, to: role },
        }));
        const member = await members.changeRole(accountId, call.params.person_id, role, note);
        return { status: 200, body: toMember(member) };
      },
    }),
    route({
      ...byOwner,
      method: 'DELETE',
      path: '/portal/v1/members/{person_id}',
      operationId: 'removeMember',
      summary: 'Remove a member',
      params,
      answers: { 204: { description: 'Removed; the sessions of the person in this account have ended' } },
      refuses: lastOwner,
      handler: async (call) => {
        const note = audit.note(call, removed('member.removed'));
        await members.remove(requireDeveloper(call).accountId, call.params.person_id, note);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/me/leave',
      // Every member may leave.
      auth: { kind: 'developer', role: 'viewer' },
      tag,
      operationId: 'leaveAccount',
      summary: 'Leave the account that you act for',
      answers: { 204: { description: 'You are no longer a member; sign in again' } },
      refuses: lastOwner,
      handler: async (call) => {
        const { accountId, personId } = requireDeveloper(call);
        await members.remove(accountId, personId, audit.note(call, removed('member.left')));
        return { status: 204 };
      },
    }),
    ...createInvitationRoutes(options),
  ];
}

const removed =
  (act: AuditEntry['act']) =>
  ({ personId, email, role }: Member): AuditEntry => ({ act, id: personId, details: { email, role } });

function toMember({ personId, email, role, secondFactor, joinedAtMs }: Member) {
  return { id: personId, email, role, second_factor: secondFactor, joined_at: toTimestamp(joinedAtMs) };
}

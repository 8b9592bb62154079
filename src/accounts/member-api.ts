// Tests: test/contract/portal-members.test.ts
import { type Static, type TSchema, Type } from 'typebox';
import { pathParameter, recordId } from '../http/list-page.ts';
import { exampleId } from '../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import { createSignInReply, emailSchema, linkToken, newPassword, signInAnswers } from './account-api.ts';
import type { Audit, AuditEntry } from './audit/audit.ts';
import type { Joined, MemberService } from './member-service.ts';
import type { Invitation } from './people/invitation-store.ts';
import type { Member } from './people/member-store.ts';
import { roleSchema } from './people/role.ts';
import type { PersonService } from './person-service.ts';

export interface MemberRoutesOptions {
  people: PersonService;
  members: MemberService;
  audit: Audit;
  publicUrl: string;
}

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

const invitationSchema = Type.Object(
  {
    id: recordId('inv'),
    email: Type.String(),
    role: roleSchema,
    created_at: Type.String(),
    expires_at: Type.String(),
  },
  { title: 'Invitation' },
);
export type InvitationRecord = Static<typeof invitationSchema>;

const shownInvitationSchema = Type.Object(
  {
    email: Type.String(),
    role: roleSchema,
    account_name: Type.String(),
    sign_in_first: Type.Boolean({ description: 'Whether the person has a password here and has to sign in' }),
  },
  { title: 'ShownInvitation' },
);
export type ShownInvitation = Static<typeof shownInvitationSchema>;

function listOf<Item extends TSchema>(item: Item, title: string) {
  return Type.Object({ data: Type.Array(item) }, { title });
}

const invitedSchema = Type.Object(
  {
    ...invitationSchema.properties,
    link: Type.String({
      description: 'Shown only once. Send it to the person yourself: the service sends no mail',
      examples: ['https://sms.example.com/#/invitation/Zk3pQ7'],
    }),
  },
  { title: 'NewInvitation' },
);
export type NewInvitation = Static<typeof invitedSchema>;

/** Members of the account that the session acts for, invitations, and the choice of the account. */
export function createMemberRoutes({ people, members, audit, publicUrl }: MemberRoutesOptions): Route[] {
  const tag = 'Developer portal: members';
  const byVisitor = { auth: { kind: 'visitor' }, tag } as const;
  const byPerson = { auth: { kind: 'person' }, tag } as const;
  const byMember = { auth: { kind: 'developer' }, tag } as const;
  const byOwner = { auth: { kind: 'developer', role: 'owner' }, tag } as const;
  const params = Type.Object({ person_id: pathParameter });
  const lastOwner = { INCOMPATIBLE_STATE: 'The person is the last owner' };
  const answerSignIn = createSignInReply(people);
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
      answers: { 200: { description: 'At most 50 members', schema: listOf(memberSchema, 'Members') } },
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
    route({
      ...byMember,
      method: 'GET',
      path: '/portal/v1/members/invitations',
      operationId: 'listInvitations',
      summary: 'List open invitations',
      answers: { 200: { description: 'At most 50 invitations', schema: listOf(invitationSchema, 'Invitations') } },
      handler: async (call) => {
        const rows = await members.listInvitations(requireDeveloper(call).accountId);
        return { status: 200, body: { data: rows.map(toInvitation) } };
      },
    }),
    route({
      ...byOwner,
      method: 'POST',
      path: '/portal/v1/members/invitations',
      operationId: 'inviteMember',
      summary: 'Invite a person to your account',
      description: 'A second invitation of the same email replaces the first.',
      body: Type.Object({ email: emailSchema, role: roleSchema }, { title: 'InvitationToMake' }),
      answers: { 201: { description: 'The invitation with its one-time link', schema: invitedSchema } },
      refuses: {
        ALREADY_EXISTS: 'The person is a member',
        INCOMPATIBLE_STATE: 'The account has the maximum number of members',
      },
      handler: async (call) => {
        const { email, role } = call.body;
        const note = audit.note<Invitation>(call, (made) => ({
          act: 'invitation.created',
          id: made.id,
          details: { email: made.email, role },
        }));
        const { invitation, token } = await members.invite(requireDeveloper(call).accountId, email, role, note);
        // Browsers do not send the part after `#`, so the token stays out of access logs.
        const link = `${publicUrl}/#/invitation/${token}`;
        return { status: 201, body: { ...toInvitation(invitation), link } };
      },
    }),
    route({
      ...byOwner,
      method: 'DELETE',
      path: '/portal/v1/members/invitations/{invitation_id}',
      operationId: 'withdrawInvitation',
      summary: 'Withdraw an invitation',
      params: Type.Object({ invitation_id: pathParameter }),
      answers: { 204: { description: 'The link no longer works' } },
      handler: async (call) => {
        const id = call.params.invitation_id;
        const note = audit.note(call, { act: 'invitation.withdrawn', id });
        await members.withdraw(requireDeveloper(call).accountId, id, note);
        return { status: 204 };
      },
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/invitations/look',
      operationId: 'readInvitation',
      summary: 'Read what a link invites to',
      body: Type.Object({ token: linkToken }),
      answers: { 200: { description: 'The invitation', schema: shownInvitationSchema } },
      handler: async (call) => {
        const { email, role, accountName, signInFirst } = await members.readInvitation(call.body.token);
        return { status: 200, body: { email, role, account_name: accountName, sign_in_first: signInFirst } };
      },
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/invitations/accept',
      operationId: 'acceptInvitationAsNewPerson',
      summary: 'Accept an invitation as a new person, with a password',
      body: Type.Object({ token: linkToken, password: newPassword }),
      answers: { 201: signInAnswers[201] },
      refuses: {
        ALREADY_EXISTS: 'The person has a password here and has to sign in first',
        INCOMPATIBLE_STATE: 'The person belongs to the maximum number of accounts',
      },
      handler: async (call) => {
        const { token, password } = call.body;
        return answerSignIn(await members.acceptAsNewPerson(token, password, call.address, audit.note(call, joined)));
      },
    }),
    route({
      ...byPerson,
      method: 'POST',
      path: '/portal/v1/me/invitations',
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation as the signed-in person',
      body: Type.Object({ token: linkToken }),
      answers: { 204: { description: 'You are a member, and the session acts for that account' } },
      refuses: { INCOMPATIBLE_STATE: 'You belong to the maximum number of accounts' },
      handler: async (call) => {
        const { personId, sessionHash } = requireDeveloper(call);
        const accountId = await members.accept(call.body.token, personId, audit.note(call, joined));
        await people.switchAccount({ personId, sessionHash, address: call.address }, accountId);
        return { status: 204 };
      },
    }),
  ];
}

const removed =
  (act: AuditEntry['act']) =>
  ({ personId, email, role }: Member): AuditEntry => ({ act, id: personId, details: { email, role } });

function joined({ personId, accountId, email, role }: Joined): AuditEntry {
  return { act: 'member.joined', id: personId, personId, accountId, details: { email, role } };
}

function toMember({ personId, email, role, secondFactor, joinedAtMs }: Member) {
  return { id: personId, email, role, second_factor: secondFactor, joined_at: toTimestamp(joinedAtMs) };
}

function toInvitation({ id, email, role, createdAtMs, expiresAtMs }: Invitation) {
  return { id, email, role, created_at: toTimestamp(createdAtMs), expires_at: toTimestamp(expiresAtMs) };
}

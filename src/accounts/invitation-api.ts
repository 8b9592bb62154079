// Tests: test/contract/portal-members.test.ts
import { type Static, Type } from 'typebox';
import { pathParameter, recordId } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import { createSignInReply, emailSchema, linkToken, newPassword, signInAnswers } from './account-record.ts';
import type { Audit, AuditEntry } from './audit/audit.ts';
import type { Joined, MemberService } from './member-service.ts';
import type { Invitation } from './people/invitation-store.ts';
import { roleSchema } from './people/role.ts';
import type { PersonService } from './person-service.ts';

export interface MemberRoutesOptions {
  people: PersonService;
  members: MemberService;
  audit: Audit;
  publicUrl: string;
}

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

/** Invitations to an account, by one-time link. */
export function createInvitationRoutes({ people, members, audit, publicUrl }: MemberRoutesOptions): Route[] {
  const tag = 'Developer portal: members';
  const byVisitor = { auth: { kind: 'visitor' }, tag } as const;
  const byPerson = { auth: { kind: 'person' }, tag } as const;
  const byMember = { auth: { kind: 'developer' }, tag } as const;
  const byOwner = { auth: { kind: 'developer', role: 'owner' }, tag } as const;
  const answerSignIn = createSignInReply(people);
  return [
    route({
      ...byMember,
      method: 'GET',
      path: '/portal/v1/members/invitations',
      operationId: 'listInvitations',
      summary: 'List open invitations',
      answers: {
        200: {
          description: 'At most 50 invitations',
          schema: Type.Object({ data: Type.Array(invitationSchema) }, { title: 'Invitations' }),
        },
      },
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

function joined({ personId, accountId, email, role }: Joined): AuditEntry {
  return { act: 'member.joined', id: personId, personId, accountId, details: { email, role } };
}

function toInvitation({ id, email, role, createdAtMs, expiresAtMs }: Invitation) {
  return { id, email, role, created_at: toTimestamp(createdAtMs), expires_at: toTimestamp(expiresAtMs) };
}

import { NativeSelect, Skeleton, Stack } from '@mantine/core';
import { call } from '../api/call.ts';
import type { Account, InvitationRecord, MemberRecord, Role } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/account.ts';
import { Invite } from './invite.tsx';
import { roleOptions } from './role-options.ts';

const path = '/portal/v1/members';

/** The members of the account. Owners can invite and remove members and change roles. */
export function Members({ account }: { account: Account }) {
  const showToast = useToast();
  const { refresh, leave } = useSession();
  const members = useLoad<{ data: MemberRecord[] }>(path);
  const invitations = useLoad<{ data: InvitationRecord[] }>(`${path}/invitations`);
  const isOwner = account.role === 'owner';
  const change = useAction(async ({ id, role }: { id: string; role: Role }) => {
    await call('PATCH', `${path}/${id}`, { body: { role } });
    showToast(words.members.roleChanged);
    members.reload();
    await refresh();
  });

  async function remove(id: string): Promise<void> {
    await call('DELETE', `${path}/${id}`);
    showToast(words.members.removed);
    members.reload();
  }

  async function withdraw(id: string): Promise<void> {
    await call('DELETE', `${path}/invitations/${id}`);
    showToast(words.members.withdrawn);
    invitations.reload();
  }

  async function leaveAccount(): Promise<void> {
    await call('POST', '/portal/v1/me/leave');
    await leave();
  }

  const open = invitations.data?.data ?? [];
  return (
    <Panel
      title={words.members.title}
      lead={words.members.lead}
      actions={
        (members.data?.data.length ?? 0) > 1 && (
          <ConfirmButton
            label={words.members.leave}
            question={words.members.leaveQuestion}
            size="sm"
            act={leaveAccount}
          >
            {words.members.leaveDetail}
          </ConfirmButton>
        )
      }
    >
      <Stack>
        <ProblemCallout problem={members.problem} onRetry={members.reload} />
        <ProblemCallout problem={change.problem} />
        {members.data === undefined && members.problem === undefined && <Skeleton height={96} />}
        {members.data !== undefined && (
          <Table
            label={words.members.title}
            columns={[words.members.email, words.members.role, words.members.secondFactor, words.members.since, '']}
            rows={members.data.data.map((member) => ({
              key: member.id,
              cells: [
                member.email,
                isOwner ? (
                  <NativeSelect
                    key="role"
                    size="xs"
                    aria-label={words.members.roleOf(member.email)}
                    data={roleOptions}
                    value={member.role}
                    disabled={change.busy}
                    onChange={(event) => change.run({ id: member.id, role: event.currentTarget.value as Role })}
                  />
                ) : (
                  member.role
                ),
                member.second_factor ? words.members.on : words.members.off,
                <Time key="joined" at={member.joined_at} />,
                isOwner && member.id !== account.person_id && (
                  <ConfirmButton
                    key="remove"
                    label={words.members.remove}
                    about={member.email}
                    question={words.members.removeQuestion(member.email)}
                    act={() => remove(member.id)}
                  >
                    {words.members.removeDetail}
                  </ConfirmButton>
                ),
              ],
            }))}
          />
        )}
        {open.length > 0 && (
          <Table
            label={words.members.invitations}
            columns={[words.members.invited, words.members.role, words.members.expires, '']}
            rows={open.map((invitation) => ({
              key: invitation.id,
              cells: [
                invitation.email,
                invitation.role,
                <Time key="expires" at={invitation.expires_at} />,
                isOwner && (
                  <ConfirmButton
                    key="withdraw"
                    label={words.members.withdraw}
                    about={words.members.invitationOf(invitation.email)}
                    question={words.members.withdrawQuestion(invitation.email)}
                    act={() => withdraw(invitation.id)}
                  >
                    {words.members.withdrawDetail}
                  </ConfirmButton>
                ),
              ],
            }))}
          />
        )}
        {isOwner && <Invite onInvited={invitations.reload} />}
      </Stack>
    </Panel>
  );
}

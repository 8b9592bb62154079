import { Stack } from '@mantine/core';
import { useFilters } from '../location.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/account.ts';
import { AccountSwitch } from './account-switch.tsx';
import { AuditLink } from './audit-link.tsx';
import { ChangePassword } from './change-password.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { Members } from './members.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { SignIns } from './sign-ins.tsx';
import { SingleSignOn } from './single-sign-on.tsx';

export default function AccountPage() {
  const { account } = useSession();
  const { values } = useFilters({ next: '', sso: '' });
  if (account === null) return null;
  return (
    <>
      <PageTitle documentTitle={words.title} lead={words.signedInAs(account.email)}>
        {words.yours}
      </PageTitle>
      <Stack gap="lg">
        {account.accounts.length > 1 && <AccountSwitch account={account} />}
        <SecondFactor account={account} next={values.next} />
        <SingleSignOn account={account} outcome={values.sso} />
        <Members account={account} />
        {account.role === 'owner' && <AuditLink />}
        {account.has_password && <ChangePassword />}
        <Sessions />
        <SignIns />
        <DeleteAccount account={account} />
      </Stack>
    </>
  );
}

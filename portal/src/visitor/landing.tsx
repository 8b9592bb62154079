import { Title } from '@mantine/core';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import styles from './landing.module.css';
import { SignUp } from './sign-up.tsx';
import { Signal } from './signal.tsx';

export function Landing() {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  return (
    <>
      <div className={styles.top}>
        <div>
          <PageTitle
            documentTitle="Sign up"
            lead="Number verification and SMS messaging that you host yourself, with a key in your hand as soon as you sign up."
          >
            From sign-up to a delivered text in a minute
          </PageTitle>
          <div className={styles.picture}>
            <Signal />
          </div>
        </div>
        <SignUp />
      </div>
      <Title order={2} mb={16}>
        Three steps
      </Title>
      <ol className={styles.steps}>
        <Step title="Create an application">It holds your credentials, and its name is what people read.</Step>
        <Step title="Register it for an API and a plan">
          {sandbox
            ? 'Approved at once. The key appears with a curl that works when you paste it.'
            : 'An operator approves it. The key appears with a curl that is ready for that moment.'}
        </Step>
        <Step title="Send your first text">
          {sandbox
            ? 'From this page or your terminal; it arrives on a virtual handset beside it.'
            : 'From this page or your terminal; its way is told step by step.'}
        </Step>
      </ol>
    </>
  );
}

function Step({ title, children }: { title: string; children: string }) {
  return (
    <li className={styles.step}>
      <strong>{title}</strong>
      <span>{children}</span>
    </li>
  );
}

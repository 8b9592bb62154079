import { Title } from '@mantine/core';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import { Illustration } from './illustration.tsx';
import styles from './landing.module.css';
import { SignUp } from './sign-up.tsx';

export function Landing() {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  return (
    <>
      <div className={styles.top}>
        <div>
          <PageTitle
            documentTitle="Sign up"
            lead="Self-hosted number verification and SMS messaging. Sign up, register an application, and get its key at once."
          >
            From sign-up to a delivered text in a minute
          </PageTitle>
          <div className={styles.picture}>
            <Illustration />
          </div>
        </div>
        <SignUp />
      </div>
      <Title order={2} mb={16}>
        Three steps
      </Title>
      <ol className={styles.steps}>
        <Step title="Create an application">It holds your credentials. Recipients see its name in texts.</Step>
        <Step title="Register it for an API and a plan">
          {sandbox
            ? 'Approved at once. You get a key and a curl command to paste.'
            : 'You get a key and a curl command. They work once an operator approves.'}
        </Step>
        <Step title="Send your first text">
          {sandbox
            ? 'From the portal or your terminal. It arrives on a virtual handset.'
            : 'From the portal or your terminal. The portal shows each step of the delivery.'}
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

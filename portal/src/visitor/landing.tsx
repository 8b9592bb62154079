import { Title } from '@mantine/core';
import { PageTitle } from '../parts/page-title.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/visitor.tsx';
import { Illustration } from './illustration.tsx';
import styles from './landing.module.css';
import { SignUp } from './sign-up.tsx';
import { SsoPanel } from './sso-panel.tsx';

export function Landing() {
  const { service } = useSession();
  const sandbox = service.environment === 'sandbox';
  return (
    <>
      <div className={styles.top}>
        <div>
          <PageTitle documentTitle={words.signUp.title} lead={words.landing.lead}>
            {words.landing.title}
          </PageTitle>
          <div className={styles.picture}>
            <Illustration />
          </div>
        </div>
        {service.sso?.only ? <SsoPanel issuer={service.sso.issuer} titled /> : <SignUp />}
      </div>
      <Title order={2} mb={16}>
        {words.landing.steps}
      </Title>
      <ol className={styles.steps}>
        <Step title={words.landing.create}>{words.landing.createDetail}</Step>
        <Step title={words.landing.register}>
          {sandbox ? words.landing.registerInSandbox : words.landing.registerInProduction}
        </Step>
        <Step title={words.landing.send}>{sandbox ? words.landing.sendInSandbox : words.landing.sendInProduction}</Step>
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

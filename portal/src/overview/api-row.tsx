import { Button, Modal, Stack, VisuallyHidden } from '@mantine/core';
import { type apis, planTitle } from '../api/apis.ts';
import { applicationPath, call } from '../api/call.ts';
import type { Plan, Registered, Registration } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/overview.ts';
import styles from './overview.module.css';
import { PlanCard } from './plan-card.tsx';

const words = allWords.plans;

interface ApiRowProps {
  applicationId: string;
  api: (typeof apis)[number];
  registration: Registration | undefined;
  /** Whether the row shows the plans to choose from. */
  open: boolean;
  onOpen: (open: boolean) => void;
  onRegistered: (registered: Registered) => void;
  onEnded: () => void;
}

/** One API and the application's plan for it. */
export function ApiRow(props: ApiRowProps) {
  const { api, registration, open, onOpen } = props;
  const canChange = useCanChange();
  const live = registration !== undefined && registration.status !== 'rejected';
  return (
    <section className={styles.api} aria-label={api.title}>
      <div className={styles.about}>
        <h3>{api.title}</h3>
        <p>{api.about}</p>
        {registration !== undefined && <Rejection registration={registration} />}
      </div>
      {registration !== undefined && (
        <div className={styles.plan}>
          <Status state={registration.status} />
          {live && <span>{planText(registration)}</span>}
        </div>
      )}
      {canChange ? (
        <Button variant="default" onClick={() => onOpen(true)}>
          {live ? words.change(planTitle(registration.plan)) : words.register}
          <VisuallyHidden>{live ? words.changeFor(api.title) : words.registerFor(api.title)}</VisuallyHidden>
        </Button>
      ) : (
        <span>{live ? words.current(planTitle(registration.plan)) : words.notRegistered}</span>
      )}
      <Modal
        opened={open}
        onClose={() => onOpen(false)}
        title={live ? words.changeTitle(api.title) : words.registerTitle(api.title)}
        size="xl"
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <Plans {...props} live={live} onDone={() => onOpen(false)} />
      </Modal>
    </section>
  );
}

function planText({ status, requested_plan }: Registration): string {
  if (requested_plan !== null) return words.waitingFor(planTitle(requested_plan));
  return status === 'pending' ? words.waiting : '';
}

/** Why an operator rejected the registration or its change of plan. */
function Rejection({ registration: { status, reason } }: { registration: Registration }) {
  if (status !== 'rejected' && reason === null) return null;
  return (
    <div className={styles.rejection}>
      <Callout tone="wait" title={status === 'rejected' ? words.rejected : words.changeRejected}>
        {reason === null ? words.registerAgain : words.reason(reason)}
      </Callout>
    </div>
  );
}

/** Choosing a plan registers the application or changes its plan. */
function Plans(props: ApiRowProps & { live: boolean; onDone: () => void }) {
  const { applicationId, api, registration, onRegistered, onEnded, live, onDone } = props;
  const { service } = useSession();
  const path = applicationPath(applicationId, '/registrations');
  const { run, busy, problem } = useAction(async (plan: string) => {
    const registered = await call<Registered>('POST', path, { body: { api: api.name, plan } });
    onDone();
    onRegistered(registered);
  });
  const stateOf = ({ name }: Plan) => {
    if (live && name === registration?.plan) return registration.status === 'pending' ? 'requested' : 'current';
    return registration?.requested_plan === name ? 'requested' : 'open';
  };
  return (
    <Stack>
      <p className={styles.lead}>{api.credential}.</p>
      <div className={styles.plans}>
        {service.plans.map((plan) => (
          <PlanCard
            key={plan.name}
            plan={plan}
            api={api.title}
            state={stateOf(plan)}
            registered={live}
            busy={busy}
            onChoose={() => run(plan.name)}
          />
        ))}
      </div>
      <ProblemCallout problem={problem} />
      {live && (
        <div>
          <ConfirmButton
            label={words.end}
            about={words.endAbout(api.title)}
            question={words.endQuestion(api.title)}
            act={async () => {
              await call('DELETE', `${path}/${api.name}`);
              onDone();
              onEnded();
            }}
          >
            {words.endEffect}
          </ConfirmButton>
        </div>
      )}
    </Stack>
  );
}

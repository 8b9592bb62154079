import { Stack } from '@mantine/core';
import type { apis } from '../api/apis.ts';
import { planTitle } from '../api/apis.ts';
import { applicationPath, call } from '../api/call.ts';
import type { Plan, Registered, Registration } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Callout } from '../parts/callout.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { useSession } from '../session/session.tsx';
import styles from './api-panel.module.css';
import { PlanCard } from './plan-card.tsx';

interface ApiPanelProps {
  applicationId: string;
  api: (typeof apis)[number];
  registration: Registration | undefined;
  onRegistered: (registered: Registered) => void;
  onEnded: () => void;
}

/** One API and its plans. Choosing a plan registers the application or changes its plan. */
export function ApiPanel({ applicationId, api, registration, onRegistered, onEnded }: ApiPanelProps) {
  const { service } = useSession();
  const path = applicationPath(applicationId, '/registrations');
  const { run, busy, problem } = useAction(async (plan: string) =>
    onRegistered(await call<Registered>('POST', path, { body: { api: api.name, plan } })),
  );
  const live = registration !== undefined && registration.status !== 'rejected';
  const stateOf = ({ name }: Plan) => {
    if (live && name === registration.plan) return registration.status === 'pending' ? 'requested' : 'current';
    return registration?.requested_plan === name ? 'requested' : 'open';
  };
  return (
    <Panel
      title={api.title}
      lead={`${api.about} ${api.credential}.`}
      actions={registration && <Status state={registration.status} />}
    >
      <Stack>
        {registration?.status === 'rejected' && (
          <Callout tone="wait">An operator rejected this registration. You can register again.</Callout>
        )}
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
          <div className={styles.foot}>
            <span>
              Plan: <strong>{planTitle(registration.plan)}</strong>
              {registration.requested_plan !== null &&
                ` until an operator approves ${planTitle(registration.requested_plan)}`}
            </span>
            <ConfirmButton
              label="End registration"
              about={`for ${api.title}`}
              question={`End the registration for ${api.title}?`}
              act={async () => {
                await call('DELETE', `${path}/${api.name}`);
                onEnded();
              }}
            >
              Credentials that only this API uses stop working at once. Its records are kept.
            </ConfirmButton>
          </div>
        )}
      </Stack>
    </Panel>
  );
}

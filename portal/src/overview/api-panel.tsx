import { Stack } from '@mantine/core';
import type { apis } from '../api/apis.ts';
import { planTitle } from '../api/apis.ts';
import { applicationPath, call } from '../api/call.ts';
import type { Plan, Registered, Registration } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Note } from '../parts/note.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
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

/** One API: its plans as cards, and a click that registers for one or changes to it. */
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
          <Note tone="wait">An operator has rejected this registration. You may ask again.</Note>
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
        <ProblemNote problem={problem} />
        {live && (
          <div className={styles.foot}>
            <span>
              Plan: <strong>{planTitle(registration.plan)}</strong>
              {registration.requested_plan !== null &&
                ` until an operator approves ${planTitle(registration.requested_plan)}`}
            </span>
            <Confirm
              label="End registration"
              about={`for ${api.title}`}
              question={`End the registration for ${api.title}?`}
              act={async () => {
                await call('DELETE', `${path}/${api.name}`);
                onEnded();
              }}
            >
              Credentials that only this API needs are dead at once. Its records stay.
            </Confirm>
          </div>
        )}
      </Stack>
    </Panel>
  );
}

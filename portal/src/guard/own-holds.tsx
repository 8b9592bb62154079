import { applicationPath, call } from '../api/call.ts';
import type { OwnGuardHold } from '../api/record-types.ts';
import type { Page } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Facts } from '../parts/facts.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/guard.tsx';
import { nameOfHold } from './name-of-hold.ts';
import styles from './own-holds.module.css';

const refreshMs = 10_000;
const shown = 20;

/** The active holds of this application and their reasons. Renders nothing without a hold. */
export function OwnHolds({ applicationId }: { applicationId: string }) {
  const path = applicationPath(applicationId, '/guard-holds');
  const { data, reload } = useLoad<Page<OwnGuardHold>>(`${path}?state=open&limit=${shown}`, refreshMs);
  const holds = data?.data ?? [];
  if (holds.length === 0) return null;
  const knowsClients = holds.some(({ group }) => group !== 'prefix' && group !== 'country');
  return (
    <Panel title={words.title} lead={words.lead}>
      <div className={styles.holds}>
        {!knowsClients && <p>{words.sendClient}</p>}
        {holds.map((hold) => (
          <Hold key={hold.id} hold={hold} path={path} onEnded={reload} />
        ))}
      </div>
    </Panel>
  );
}

function Hold({ hold, path, onEnded }: { hold: OwnGuardHold; path: string; onEnded: () => void }) {
  const canChange = useCanChange();
  const showToast = useToast();
  const name = nameOfHold(hold);
  const { acts, approved, numbers, least_share, blocked, began_at, ends_at, may_end_at } = hold;
  const mayEndNow = may_end_at !== null && Date.parse(may_end_at) <= Date.now();

  async function end(): Promise<void> {
    await call('POST', `${path}/${hold.id}/end`);
    showToast(words.ended);
    onEnded();
  }

  return (
    <article className={styles.hold} aria-label={name}>
      <div className={styles.about}>
        <h3 className={styles.name}>
          {name} <Tag tone={acts ? 'bad' : 'wait'}>{acts ? words.held : words.reported}</Tag>
        </h3>
        <p className={styles.why}>{words.entered(approved, numbers, Math.round(least_share * 100))}</p>
        <Facts
          facts={[
            [words.blocked, blocked],
            [words.since, <Time key="since" at={began_at} />],
            [words.ends, <Time key="ends" at={ends_at} />],
          ]}
        />
      </div>
      {canChange && mayEndNow && (
        <ConfirmButton label={words.end} about={name} question={words.endQuestion} size="sm" act={end}>
          {words.endDetail}
        </ConfirmButton>
      )}
      {canChange && may_end_at !== null && !mayEndNow && <p>{words.later(<Time at={may_end_at} />)}</p>}
    </article>
  );
}

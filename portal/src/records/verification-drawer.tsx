import { applicationPath } from '../api/call.ts';
import type { VerificationDetail } from '../api/record-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { RecordDrawer } from './record-drawer.tsx';

export function VerificationDrawer({ applicationId, id, back }: { applicationId: string; id: string; back: string }) {
  return (
    <RecordDrawer<VerificationDetail>
      title="Verification"
      path={applicationPath(applicationId, `/verifications/${encodeURIComponent(id)}`)}
      applicationId={applicationId}
      back={back}
    >
      {(verification) => (
        <Facts
          facts={[
            ['To', verification.to],
            ['Channel', verification.channel],
            ['Reason', verification.reason ?? '–'],
            ['Wrong codes', verification.attempts],
            ['Tries left', verification.attempts_remaining],
            ['Texts sent', verification.sends],
            [
              'Latest text',
              verification.delivery === null ? '–' : <Status key="delivery" state={verification.delivery.status} />,
            ],
            ['Reference', verification.reference ?? '–'],
            ['Expires', <Time key="expires" at={verification.expires_at} />],
          ]}
        />
      )}
    </RecordDrawer>
  );
}

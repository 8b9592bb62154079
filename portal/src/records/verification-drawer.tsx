import type { ReactNode } from 'react';
import { applicationPath } from '../api/call.ts';
import type { Payment, VerificationDetail } from '../api/record-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';
import { HeldBack } from './held-back.tsx';
import { RecordDrawer } from './record-drawer.tsx';
import { Waiting } from './waiting.tsx';

const words = allWords.verification;

const paymentFact = ({ amount, currency, payee }: Payment): [string, string] => [
  words.payment,
  words.paid(`${amount} ${currency}`, payee),
];

/** The latest send; each of them where there were several channels. */
function deliveryFacts({ deliveries, delivery }: VerificationDetail): [string, ReactNode][] {
  const several = new Set(deliveries.map(({ channel }) => channel)).size > 1;
  if (!several) return [[words.latest, delivery === null ? '–' : <Status key="delivery" state={delivery.status} />]];
  return deliveries.map(({ channel, status, message_id }, index) => [
    words.sentBy(index + 1, words.channels[channel] ?? channel),
    <Status key={message_id} state={status} />,
  ]);
}

export function VerificationDrawer({ applicationId, id, back }: { applicationId: string; id: string; back: string }) {
  return (
    <RecordDrawer<VerificationDetail>
      kind={words.kind}
      id={id}
      path={applicationPath(applicationId, `/verifications/${encodeURIComponent(id)}`)}
      applicationId={applicationId}
      back={back}
    >
      {(verification) => (
        <>
          {verification.reason === 'suspected_pumping' && (
            <HeldBack applicationId={applicationId} to={verification.to} />
          )}
          <Waiting reason={verification.waiting} />
          <Facts
            facts={[
              [words.to, verification.to],
              [words.channel, words.channels[verification.channel] ?? verification.channel],
              ...(verification.payment === undefined ? [] : [paymentFact(verification.payment)]),
              [words.reason, verification.reason ?? '–'],
              [words.wrongCodes, verification.attempts],
              [words.attemptsLeft, verification.attempts_remaining],
              [words.sends, verification.sends],
              ...deliveryFacts(verification),
              [words.reference, verification.reference ?? '–'],
              [words.expires, <Time key="expires" at={verification.expires_at} />],
            ]}
          />
        </>
      )}
    </RecordDrawer>
  );
}

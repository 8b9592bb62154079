import type { MessageDetail } from '../api/record-types.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';

const words = allWords.submits;

type Submit = MessageDetail['submits'][number];

/** Every attempt to send a text, with its carrier, rule and outcome. */
export function Submits({ submits }: { submits: Submit[] }) {
  if (submits.length === 0) return null;
  return (
    <Table
      label={words.label}
      columns={words.columns}
      rows={submits.map((submit) => ({
        key: `${submit.at} ${submit.attempt} ${submit.carrier}`,
        cells: [
          <Time key="at" at={submit.at} />,
          submit.carrier,
          <Outcome key="outcome" submit={submit} />,
          submit.route ?? '–',
          <code key="id">{submit.carrier_message_id ?? '–'}</code>,
        ],
      }))}
    />
  );
}

function Outcome({ submit }: { submit: Submit }) {
  const { outcome, error, reported, receipt, receipt_reported, moved_to } = submit;
  return (
    <>
      <Status state={outcome.replaceAll('_', ' ')} />
      {error !== null && <div>{error}</div>}
      {reported !== null && <div>{words.reported(reported)}</div>}
      {(receipt !== null || receipt_reported !== null) && <div>{words.receipt(receipt, receipt_reported)}</div>}
      {moved_to !== null && <div>{words.movedTo(moved_to)}</div>}
    </>
  );
}

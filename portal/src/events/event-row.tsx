import type { AppEvent } from '../api/event-types.ts';
import { Quiet, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { eventName, numberOf, toneOf } from './event-names.ts';

/** The cells of one event in the list. */
export function EventRow({ event }: { event: AppEvent }) {
  return (
    <>
      <Tag tone={toneOf(event.type)}>{event.type}</Tag>
      <RowNumber>{numberOf(event)}</RowNumber>
      <RowText>{eventName(event.type)}</RowText>
      <Quiet>
        <Time at={event.time} />
      </Quiet>
    </>
  );
}

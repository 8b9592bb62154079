const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A time in the reader's time zone, with the date unless it is today. */
export function Time({ at }: { at: string }) {
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={whole.format(moment)}>
      {(today ? timeOnly : dayAndTime).format(moment)}
    </time>
  );
}

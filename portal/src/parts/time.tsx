const ofThisYear = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
const dayAndTime = new Intl.DateTimeFormat(undefined, ofThisYear);
const withYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A time in the reader's time zone, always with its day: a page may stay open overnight. */
export function Time({ at }: { at: string }) {
  const moment = new Date(at);
  const isThisYear = moment.getFullYear() === new Date().getFullYear();
  return (
    <time dateTime={at} title={whole.format(moment)}>
      {(isThisYear ? dayAndTime : withYear).format(moment)}
    </time>
  );
}

const count = new Intl.NumberFormat();
/** The service stops counting here. */
const mostCounted = 1000;

const countText = (open: number) => (open >= mostCounted ? `${count.format(mostCounted)}+` : count.format(open));

/** The number of alerts in the top bar, for operators. */
export const words = {
  count: countText,
  alerts: (open: number) => (open === 1 ? 'alert' : 'alerts'),
  none: 'No alerts',
  label: (open: number) =>
    open === 0 ? 'No alerts. Open Now' : `${countText(open)} ${open === 1 ? 'alert' : 'alerts'}. Open Now`,
  unread: 'Alerts unknown',
  unknown: 'Alerts unknown. Open Now',
};

/** As Twilio's Verify API writes times: whole seconds, in UTC. */
export function toSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

let lastSecond = Number.NaN;
let lastText = '';

/** As Twilio's other APIs write them (RFC 2822). The times of a text are often of one second, which is written once. */
export function toRfc2822(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(ms).toUTCString().replace('GMT', '+0000');
  }
  return lastText;
}

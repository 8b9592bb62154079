/** What to do about a refusal, by the status that the carrier's words begin with, or by our code for its error. */
const advices: { of: RegExp; advice: (name: string) => string }[] = [
  {
    of: /^0x0(e|f)\b/,
    advice: (name) => `The provider of ${name} refuses the account: check system_id, password and the balance.`,
  },
  {
    of: /^(0x0a|0x48|0x49)\b|sender_rejected/,
    advice: (name) =>
      `The sender is refused: register it with the provider of ${name} for this country, or set \`from\` in the route.`,
  },
  {
    of: /^(0x0b|0x50|0x51)\b|invalid_destination/,
    advice: (name) =>
      `Check the numbers. If they are right, ${name} does not serve this country: route it to another carrier.`,
  },
  {
    of: /^(0x01|0x104)\b|content_rejected/,
    advice: (name) => `The content is refused: ask the provider of ${name} which texts it allows.`,
  },
  {
    of: /^(0x08|0x64)\b|carrier_unavailable/,
    advice: (name) =>
      `The provider of ${name} has a fault: ask it, and pause ${name} meanwhile, so that texts take another carrier.`,
  },
];

export function refusedAdvice(name: string, words: string): string {
  const known = advices.find(({ of }) => of.test(words));
  return (
    known?.advice(name) ??
    `Route the country to another carrier, or pause ${name}. Then ask its provider what the error means: account, route or content.`
  );
}

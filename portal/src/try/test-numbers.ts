import { words } from '../words/test-numbers.ts';
/** How the sandbox treats its test numbers. `scenario` is short, for a button; one number of each kind has it. */
export const testNumbers: { number: string; does: string; scenario?: string }[] = [
  { number: '+15005550100', does: words.numbers.delivered, scenario: words.scenarios.delivered },
  { number: '+15005550101', does: words.numbers.delivered },
  { number: '+15005550110', does: words.numbers.slow, scenario: words.scenarios.slow },
  { number: '+15005550111', does: words.numbers.undelivered, scenario: words.scenarios.undelivered },
  { number: '+15005550112', does: words.numbers.blocked, scenario: words.scenarios.blocked },
  { number: '+15005550113', does: words.numbers.expires, scenario: words.scenarios.expires },
  { number: '+15005550114', does: words.numbers.fails, scenario: words.scenarios.fails },
  { number: '+15005550115', does: words.numbers.noAnswer, scenario: words.scenarios.noAnswer },
  { number: '+15005550116', does: words.numbers.busy, scenario: words.scenarios.busy },
  { number: '+15005550117', does: words.numbers.noWhatsApp, scenario: words.scenarios.noWhatsApp },
];

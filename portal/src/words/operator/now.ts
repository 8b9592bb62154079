const count = new Intl.NumberFormat();

/** What is wrong at this moment, for operators. */
export const words = {
  title: 'Now',
  lead: 'Updated every 5 seconds. Last at',
  wrong: (alerts: number) => (alerts === 1 ? '1 thing is wrong' : `${count.format(alerts)} things are wrong`),
  more: 'There are more alerts. The list of alerts has all of them.',
  openAlerts: 'Open all alerts',
  since: 'Since',
  lasts: (age: string) => `(${age})`,
  early: 'If it lasts, an alert follows.',
  calm: {
    title: 'Nothing is wrong',
    carriers: (up: number, all: number) =>
      all === 0 ? 'No carriers yet.' : up === all ? `All carriers work (${all}).` : `${up} of ${all} carriers work.`,
    noCarriers: 'The service has no carrier. Add one to send texts.',
    noCarriersInSandbox: 'Texts go to the virtual handsets. Add a carrier to send texts to phones.',
    addCarrier: 'Add a carrier',
  },
  queue: {
    title: 'Queue',
    lead: 'Texts that are due and not sent.',
    codes: 'Codes and urgent texts',
    bulk: 'Other texts',
    empty: 'None wait',
    waiting: (waiting: number) =>
      waiting >= 10_000 ? '10,000 or more wait' : waiting === 1 ? '1 waits' : `${count.format(waiting)} wait`,
    oldest: (age: string) => `The oldest has waited ${age}.`,
    open: 'Open the queue',
    ofCarrier: (codes: number, bulk: number, age: string) =>
      `Waiting: ${count.format(codes)} codes, ${count.format(bulk)} other texts; the oldest ${age}.`,
  },
  carriers: {
    title: 'Carriers, last hour',
    lead: 'Texts accepted in the last 60 minutes. Times are from acceptance to the delivery report.',
    unanswered: (submits: number) =>
      `${count.format(submits)} ${submits === 1 ? 'submit' : 'submits'} without an answer.`,
    putOff: (submits: number) =>
      `${count.format(submits)} ${submits === 1 ? 'submit' : 'submits'} put off by the carrier.`,
    deleted: 'deleted',
    handsets: 'virtual handsets',
    none: 'The carrier has taken no text in the last hour.',
    table: (carrier: string) => `${carrier} by country`,
    test: 'Test',
    testOf: (carrier: string) => `Test ${carrier}`,
    columns: {
      country: 'Country',
      delivered: 'Delivered',
      texts: 'Texts',
      median: 'Median',
      p95: '95 % within',
      failed: 'Refused or failed',
      undelivered: 'Undelivered',
      unreported: 'No report yet',
    },
    all: 'All countries',
    noCountry: 'No country',
    noReports: 'no receipts',
  },
  move: {
    button: 'Move traffic',
    about: (carrier: string) => `Move traffic of ${carrier}`,
    title: (carrier: string) => `Move the traffic of ${carrier}`,
    close: 'Close',
    to: 'To carrier',
    option: (carrier: string, state: string) => `${carrier} (${state})`,
    notReady: (carrier: string) => `${carrier} cannot send now. Choose another carrier, or test it first.`,
    rules: 'Rules',
    rule: (name: string, match: string) => `${name}: ${match}`,
    changes: 'What will change',
    effect: (from: string, to: string) =>
      `New texts that match these rules go to ${to} within 2 seconds. Texts that already wait for ${from} stay with it.`,
    pause: (carrier: string) =>
      `Also pause ${carrier}: its waiting codes then take another carrier of their rule. Its other texts wait until you resume it.`,
    act: (rules: number, to: string) => `Move ${rules} ${rules === 1 ? 'rule' : 'rules'} to ${to}`,
    done: (from: string, to: string) => `Traffic of ${from} moved to ${to}`,
    cancel: 'Cancel',
    outdated: 'Another operator changed the routes. Nothing was saved.',
    reload: 'Show the new rules',
    alone: (carrier: string) => `${carrier} is the only carrier`,
    aloneNext: 'Add another carrier first. Then you can move traffic to it.',
    unnamed: (carrier: string) => `No rule names ${carrier}`,
    unnamedDetail: 'It gets no new texts: the rules send them to other carriers. There is nothing to move.',
    noRules: 'There are no rules',
    noRulesNext: (from: string, next: string) =>
      `Without rules, texts go to the first carrier by name that works. Pause ${from}, and new texts and waiting codes go to another one, such as ${next}. Or add a rule.`,
    noRulesAlone:
      'Without rules, texts go to the first carrier by name that works. No other carrier works now: add or repair one first.',
    openRoutes: 'Open routes',
  },
};

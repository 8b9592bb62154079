/** What an application may send, and as whom. All its callers share one object, which a change replaces. */
export interface SendingRights {
  /**
   * - `any`: the sandbox, where every sender counts as approved.
   * - `open`: a production installation that asks for no approval.
   * - `held`: only the senders below.
   */
  senderRule: 'any' | 'open' | 'held';
  /** Approved senders, the oldest first. */
  senders: readonly HeldSender[];
  /** Texts of verifications that an operator has set, by country. */
  templates: Readonly<Record<string, CountryTemplate>>;
  /** Countries where it may call people; null for all. An operator allows them. */
  callCountries: readonly string[] | null;
  /** Null for no limit. */
  segmentsPerDay: number | null;
  /** The assurance profile of its verifications; null for the standard. */
  assurance: string | null;
  /** Numbers whose verifications are held back, because they look like pumping. */
  holds: readonly GuardHold[];
}

export interface GuardHold {
  id: string;
  /** A country (`GB`), or a group of numbers (`+44770090****`). */
  scope: string;
  beganAtMs: number;
  untilMs: number;
  /** Why it is held: how many numbers got a code, how many entered it, and the minimum share expected. */
  numbers: number;
  approved: number;
  leastShare: number;
}

export interface HeldSender {
  sender: string;
  /** ISO codes; empty for every country. */
  countries: readonly string[];
  /** The names of the carriers that know it; empty for all of them. */
  carriers: readonly string[];
}

export interface CountryTemplate {
  /** Has `{{code}}` once, and perhaps `{{minutes}}`. */
  text: string;
  /** What carriers call the text, where it must be registered. */
  templateId: string | null;
}

/** The rights of an application in the sandbox that has asked for nothing. */
export const everyRight: SendingRights = {
  senderRule: 'any',
  senders: [],
  templates: {},
  callCountries: null,
  segmentsPerDay: null,
  assurance: null,
  holds: [],
};

/** A sender that an application has asked for. Only an approved one may be used in production. */
export interface Sender {
  id: string;
  applicationId: string;
  /** As the developer wrote it. */
  sender: string;
  /** ISO codes, sorted; empty for every country. */
  countries: string[];
  status: SenderStatus;
  /** The names of the carriers that know it; empty for all of them. */
  carriers: string[];
  /** What the carrier or a country's authority calls it. */
  registration: string | null;
  /** Texts a second, over all carriers and nodes; null for no limit of its own. */
  perSecond: number | null;
  /** Why an operator rejected it. */
  reason: string | null;
  createdAtMs: number;
  decidedAtMs: number | null;
}

export type SenderStatus = 'pending' | 'approved' | 'rejected';
export const senderStatuses: readonly SenderStatus[] = ['pending', 'approved', 'rejected'];

/** What an operator says of a sender when approving it. */
export type Approval = Pick<Sender, 'carriers' | 'registration' | 'perSecond'>;

/** Maximum senders of an application, because every node keeps them in memory. */
export const mostSenders = 100;

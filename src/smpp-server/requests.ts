/** Answers the submit_sm of this sequence; the id is empty unless the status is 0. */
export type AnswerSubmit = (sequence: number, status: number, messageId: string) => void;

/** The id of a part that was taken. */
export interface PartAnswer {
  messageId: string;
}

/** The answer to a query_sm, without the id that it repeats. */
export interface QueryAnswer {
  status: number;
  finalDate: string;
  messageState: number;
  errorCode: number;
}

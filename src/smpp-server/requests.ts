/** The answer to a submit_sm. */
export interface SubmitAnswer {
  status: number;
  messageId: string;
}

/** The answer to a query_sm, without the id that it repeats. */
export interface QueryAnswer {
  status: number;
  finalDate: string;
  messageState: number;
  errorCode: number;
}

/** A person who changes its own credentials, in this session. */
export interface Self {
  personId: string;
  sessionHash: Buffer;
  address: string;
}

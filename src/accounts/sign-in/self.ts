/** A person who asks for a change of its own, in this session. */
export interface Self {
  personId: string;
  sessionHash: Buffer;
  address: string;
}

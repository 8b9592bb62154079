/** The keys of all advisory locks. Two versions run side by side during an upgrade, so a key never changes. */
export const advisoryLocks = {
  migrations: 4_207_001,
  node: 4_207_003,
  signingKeys: 4_207_005,
  keyRing: 4_207_007,
  routeTable: 4_207_010,
  alerts: 4_207_014,
  handsets: 4_207_020,
  declaredConfiguration: 4_207_023,
  /** The second keys of locks whose first key is a carrier's id. Slot n of a carrier adds n to `bindSlots`. */
  wantedBinds: 4_207_099,
  bindSlots: 4_207_100,
} as const;

/** Seeds for locks on names: their key is `hashtextextended(name, seed)`. */
export const lockSeeds = {
  verificationNames: 4_207_006,
  // The number of `keyRing`, but no clash: the key is a hash of 64 bits.
  partitions: 4_207_007,
  applicationsOfAccount: 4_207_021,
  longTexts: 4_207_033,
  optOuts: 4_207_034,
  eventPosition: 4_207_035,
  turnedIndexes: 4_207_036,
  smppTexts: 4_207_043,
  ownNumbers: 4_207_044,
} as const;

/** Words that readers bring from elsewhere, and ours for the same thing. */
const synonyms: Record<string, string[]> = {
  '2fa': ['verification', 'second factor'],
  auth: ['token', 'credential'],
  bulk: ['batch'],
  callback: ['webhook'],
  dlr: ['delivered', 'receipt'],
  hmac: ['signature'],
  library: ['client'],
  login: ['sign in'],
  mfa: ['verification', 'second factor'],
  otp: ['verification', 'code'],
  passcode: ['code'],
  pin: ['code', 'verification'],
  quota: ['limit'],
  rate: ['limit'],
  sdk: ['client'],
  sms: ['text'],
  throttling: ['limit'],
  totp: ['second factor'],
  unsubscribe: ['opt-out'],
};

/** The word itself first. */
export function meaningsOf(word: string): string[] {
  return [word, ...(synonyms[word] ?? [])];
}

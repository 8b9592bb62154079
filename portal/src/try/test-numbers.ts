/** How the sandbox treats its test numbers. */
export const testNumbers: { number: string; does: string }[] = [
  { number: '+15005550100', does: 'Delivered; the code is 123456' },
  { number: '+15005550101', does: 'Delivered; the code is 123456' },
  { number: '+15005550110', does: 'Delivered after 10 seconds' },
  { number: '+15005550111', does: 'Undelivered' },
  { number: '+15005550112', does: 'Verification blocked, SMS fails' },
  { number: '+15005550113', does: 'Verification expires after 2 seconds' },
  { number: '+15005550114', does: 'SMS fails permanently' },
];

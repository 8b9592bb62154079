/** The outcomes of the sandbox's test numbers. */
export const words = {
  numbers: {
    delivered: 'Delivered; the code is 123456',
    slow: 'Delivered after 10 seconds',
    undelivered: 'Undelivered',
    blocked: 'Verification blocked, SMS fails',
    expires: 'Verification expires after 2 seconds',
    fails: 'SMS fails permanently',
    noAnswer: 'Calls ring for 3 seconds without an answer; texts arrive',
    busy: 'Busy for calls; texts arrive',
    noWhatsApp: 'Has no WhatsApp; texts and calls arrive',
  },
  scenarios: {
    delivered: 'Delivered',
    slow: 'Slow',
    undelivered: 'Undelivered',
    blocked: 'Blocked',
    expires: 'Code expires',
    fails: 'Fails',
    noAnswer: 'No answer',
    busy: 'Busy',
    noWhatsApp: 'No WhatsApp',
  },
};

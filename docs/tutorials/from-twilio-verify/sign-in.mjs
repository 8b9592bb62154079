// A sign-in as many programs have it, written for Twilio's client. Nothing in this file changes when you move.

/** @returns the sentence to show to the person who signs in. */
export async function askForCode(client, serviceSid, to) {
  try {
    const verification = await client.verify.v2.services(serviceSid).verifications.create({ to, channel: 'sms' });
    return verification.status === 'pending' ? 'We have sent you a code.' : 'Please try again.';
  } catch (error) {
    if (error.code === 60200) return 'This is not a phone number.';
    if (error.code === 60203) return 'We have sent you enough codes. Please wait ten minutes.';
    if (error.code === 60410 || error.code === 60605) return 'We cannot send a code to this number.';
    throw error;
  }
}

export async function checkCode(client, serviceSid, to, code) {
  try {
    const check = await client.verify.v2.services(serviceSid).verificationChecks.create({ to, code });
    return check.status === 'approved' ? 'Welcome.' : 'That is not the code.';
  } catch (error) {
    if (error.code === 60202) return 'There were too many wrong codes.';
    if (error.code === 20404) return 'The code has expired. Please ask for a new one.';
    throw error;
  }
}

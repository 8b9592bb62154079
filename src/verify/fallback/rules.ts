import { Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { channelExpected, rightChannel, type SendingChannel, sendingChannels } from '../../messages/channel.ts';
import type { FieldProblem } from '../../platform/errors.ts';

export const mostSteps = 2;
const seconds = { least: 5, most: 120, usual: 20 };

/** What a start may do if its code is not entered. */
export const fallbackSchema = Type.Optional(
  nullable(
    Type.Array(
      Type.Object(
        {
          channel: Type.String({
            maxLength: 64,
            expected: rightChannel(sendingChannels),
            shown: { enum: sendingChannels },
            examples: ['voice'],
            description: 'How the same code is sent next',
          }),
          after_seconds: Type.Integer({
            minimum: seconds.least,
            maximum: seconds.most,
            default: seconds.usual,
            expected: `a whole number of seconds from ${seconds.least} to ${seconds.most}`,
            description: 'Seconds after the previous send; the code is sent at once if that send fails permanently',
          }),
        },
        { title: 'FallbackStep', examples: [{ channel: 'voice', after_seconds: 20 }] },
      ),
      {
        minItems: 1,
        maxItems: mostSteps,
        expected: `a list of 1 or ${mostSteps} steps`,
        description: 'Further channels for the same code while it is not entered',
      },
    ),
  ),
);

/** Refuses a step with the channel of the send before it, because it would only repeat that send. */
export function fallbackProblems(fallback: unknown, first: unknown): FieldProblem[] {
  const channels = [first, ...channelsOf(fallback)];
  return channels.slice(1).flatMap((channel, index) => {
    if (typeof channel !== 'string' || channel !== channels[index]) return [];
    return [{ field: `fallback/${index}/channel`, message: 'must be another channel than the one before it' }];
  });
}

/** Channels of steps that no carrier offers, among other bad fields. */
export function unsupportedSteps(fallback: unknown, working: readonly SendingChannel[]): FieldProblem[] {
  return channelsOf(fallback).flatMap((channel, index) => {
    const isWrong = typeof channel === 'string' && !(working as readonly string[]).includes(channel);
    return isWrong ? [{ field: `fallback/${index}/channel`, message: channelExpected(working) }] : [];
  });
}

function channelsOf(fallback: unknown): unknown[] {
  if (!Array.isArray(fallback) || fallback.length > mostSteps) return [];
  return fallback.map((step) => step?.channel);
}

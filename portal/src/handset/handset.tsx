import { Skeleton } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { InboxText } from '../api/record-types.ts';
import { useCanChange } from '../session/role.ts';
import { words } from '../words/try.tsx';
import { Bubble, ReplyBubble } from './bubble.tsx';
import { CallBubble, RingingCall } from './call-view.tsx';
import styles from './handset.module.css';
import { type Draft, ReplyForm } from './reply-form.tsx';
import { useCalls } from './use-calls.ts';
import { keyOf, useInbox } from './use-inbox.ts';
import { useReplies } from './use-replies.ts';
import { WhatsAppMessage } from './whatsapp.tsx';

interface HandsetProps {
  applicationId: string;
  number: string;
  onNumber: (number: string) => void;
  /** Enters the code of a text where the page asks for it. */
  onCode?: (text: InboxText, code: string) => void;
  /** A text that the person is about to send. */
  draft?: Draft | undefined;
}

const noTexts: InboxText[] = [];

/** The virtual phone. It shows the texts that the application sends to any number. */
export function Handset({ applicationId, number, onNumber, onCode, draft }: HandsetProps) {
  const canChange = useCanChange();
  const { texts, live } = useInbox(applicationId);
  const { replies, reload } = useReplies(applicationId, number);
  const calls = useCalls(applicationId, number, texts ?? noTexts, canChange);
  const [seen, setSeen] = useState<Map<string, number> | undefined>(undefined);
  const log = useRef<HTMLDivElement>(null);

  const counts = useMemo(() => {
    const found = new Map<string, number>([[number, 0]]);
    for (const { to } of texts ?? []) found.set(to, (found.get(to) ?? 0) + 1);
    return found;
  }, [texts, number]);
  const count = counts.get(number) ?? 0;
  const loaded = texts !== undefined;
  const shown = (texts ?? []).filter(({ to }) => to === number);
  const senders = [...new Set(shown.flatMap(({ from, channel }) => (channel === undefined ? from : [])).reverse())];
  const rings = shown.findLast((text) => text.channel === 'voice' && calls.stateOf(text) === 'ringing');
  const talk = [...shown, ...replies].sort((a, b) => a.received_at.localeCompare(b.received_at));

  useEffect(() => {
    // Texts that were there when the page opened are not new.
    if (loaded) setSeen((before) => new Map(before ?? counts).set(number, count));
  }, [number, count, counts, loaded]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new text or reply is scrolled to.
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [number, loaded, talk.length]);

  return (
    <section className={styles.place} aria-label={words.handset.title}>
      <div className={styles.phone}>
        <div className={styles.top}>
          <span className={styles.speaker} aria-hidden="true" />
          <strong className={styles.number}>{number === '' ? words.handset.noNumber : number}</strong>
          <span className={styles.live} data-live={live}>
            {live ? words.handset.live : words.handset.connecting}
          </span>
        </div>
        <div className={styles.front}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
          <div className={styles.screen} ref={log} role="log" aria-label={words.handset.texts(number)} tabIndex={0}>
            {texts === undefined && <Skeleton height={60} radius="lg" />}
            {texts !== undefined && shown.length === 0 && <p className={styles.nothing}>{words.handset.empty}</p>}
            {talk.map((text) => {
              if ('id' in text) return <ReplyBubble key={text.id} reply={text} />;
              if (text.channel === 'voice')
                return <CallBubble key={keyOf(text)} text={text} state={calls.stateOf(text)} />;
              const View = text.channel === 'whatsapp' ? WhatsAppMessage : Bubble;
              return <View key={keyOf(text)} text={text} {...(onCode && { onCode })} />;
            })}
          </div>
          {rings !== undefined && <RingingCall text={rings} calls={calls} />}
        </div>
        {canChange && (
          <ReplyForm
            key={number}
            applicationId={applicationId}
            from={number}
            senders={senders}
            draft={draft}
            onReplied={reload}
          />
        )}
        <fieldset className={styles.numbers}>
          <legend className={styles.legend}>{words.handset.numbers}</legend>
          {[...counts].map(([each, arrived]) => {
            const unread = each === number ? 0 : arrived - (seen?.get(each) ?? 0);
            return (
              <button
                key={each}
                type="button"
                className={styles.pick}
                aria-pressed={each === number}
                aria-label={unread > 0 ? words.handset.unread(each, unread) : each}
                data-unread={unread > 0 ? unread : undefined}
                onClick={() => onNumber(each)}
              >
                {each}
              </button>
            );
          })}
        </fieldset>
      </div>
    </section>
  );
}

import { Events } from './feed.ts';
import { newIdempotencyKey } from './idempotency.ts';
import { Inbound, OptOuts } from './inbound.ts';
import { type List, listAt } from './list.ts';
import { pathPart } from './path.ts';
import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type { Message, MessageBatch, MessageFilters, MessagePreview, NewMessage } from './types.ts';

/** Texts: the SMS Messaging API, or the Messaging API, which also takes batches. */
export class Messages {
  /** Texts that people sent to your numbers. */
  readonly inbound: Inbound;
  /** People who opted out of your application's texts. */
  readonly optOuts: OptOuts;
  /** The events of your texts. */
  readonly events: Events;
  readonly #transport: Transport;
  readonly #base: string;

  constructor(transport: Transport, base: string) {
    this.#transport = transport;
    this.#base = base;
    this.inbound = new Inbound(transport, `${base}/inbound`);
    this.optOuts = new OptOuts(transport, `${base}/opt-outs`);
    this.events = new Events(transport);
  }

  /** Sends a text. When this resolves, the text is stored and will be sent once, even if the call was retried. */
  send(message: NewMessage, options: WriteOptions = {}): Promise<Message> {
    return this.post<Message>('/messages', message, options);
  }

  get(id: string, { signal }: CallOptions = {}): Promise<Message> {
    return this.#transport.call<Message>({ method: 'GET', path: this.#pathOf(id), signal });
  }

  /** Newest first. */
  list(filters: MessageFilters = {}, options: CallOptions = {}): List<Message> {
    return listAt<Message>(this.#transport, `${this.#base}/messages`, filters, options);
  }

  /** Cancels a text that was not sent yet. */
  cancel(id: string, { signal }: CallOptions = {}): Promise<Message> {
    return this.#transport.call<Message>({ method: 'DELETE', path: this.#pathOf(id), signal });
  }

  /** Counts the segments of a text. It sends nothing. */
  preview(message: string, options: WriteOptions = {}): Promise<MessagePreview> {
    return this.post<MessagePreview>('/messages/preview', { message }, options);
  }

  protected post<Answer>(path: string, body: unknown, options: WriteOptions): Promise<Answer> {
    const { signal, idempotencyKey = newIdempotencyKey() } = options;
    return this.#transport.call<Answer>({ method: 'POST', path: this.#base + path, body, idempotencyKey, signal });
  }

  #pathOf(id: string): string {
    return `${this.#base}/messages/${pathPart('id', id)}`;
  }
}

export class BatchMessages extends Messages {
  /** Sends up to 100 texts in one call. Each is accepted or refused on its own. */
  sendBatch(messages: NewMessage[], options: WriteOptions = {}): Promise<MessageBatch> {
    return this.post<MessageBatch>('/messages/batch', { messages }, options);
  }
}

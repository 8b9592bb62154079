import { type List, listAt } from './list.ts';
import { pathPart } from './path.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { InboundFilters, InboundText, OptOut, OptOutFilters } from './types.ts';

export class Inbound {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  get(id: string, { signal }: CallOptions = {}): Promise<InboundText> {
    const path = `${this.#path}/${pathPart('id', id)}`;
    return this.#transport.call<InboundText>({ method: 'GET', path, signal });
  }

  /** Newest first. */
  list(filters: InboundFilters = {}, options: CallOptions = {}): List<InboundText> {
    return listAt<InboundText>(this.#transport, this.#path, filters, options);
  }
}

export class OptOuts {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  list(filters: OptOutFilters = {}, options: CallOptions = {}): List<OptOut> {
    return listAt<OptOut>(this.#transport, this.#path, filters, options);
  }

  /** Opts a person out of your application's texts. */
  put(number: string, { signal }: CallOptions = {}): Promise<OptOut> {
    return this.#transport.call<OptOut>({ method: 'PUT', path: this.#pathOf(number), signal });
  }

  /** Undoes `put`. An opt-out by text can only be undone by that person. */
  async remove(number: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.call<void>({ method: 'DELETE', path: this.#pathOf(number), signal });
  }

  #pathOf(number: string): string {
    return `${this.#path}/${pathPart('number', number)}`;
  }
}

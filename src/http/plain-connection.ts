import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import type { ReadAddress } from './caller-address.ts';
import type { Exchange } from './exchange.ts';
import { FirstBytes } from './first-bytes.ts';
import type { Openings } from './openings.ts';
import { type PlainCarrier, PlainExchange } from './plain-exchange.ts';
import { longestRequest, readPlainRequest } from './plain-request.ts';
import { closeGently, ignoreErrors } from './raw-socket.ts';

/** How long a connection may stand still, and how often somebody looks. */
export interface PlainTimeouts {
  keepAliveMs: number;
  stalledMs: number;
  checkMs: number;
}

/** What all connections of the lane share. */
export interface Lane {
  clock: Clock;
  addressOf: ReadAddress;
  /** Whether every answer is the last on its connection. */
  isEnding: () => boolean;
  receive: (exchange: Exchange) => void;
  openings: Openings;
  /** Node goes on with it. `informedAtMs` is that of the request it begins with. */
  giveToNode: (socket: Socket, informedAtMs: number) => void;
  connectionLines: (last: boolean) => string;
  connections: Set<PlainConnection>;
  flushSoon: (connection: PlainConnection) => void;
}

/** More than one request is not read ahead, while another is being worked on. */
const mostHeld = longestRequest;
/** More of what was answered is not held back. */
const mostUnsent = 64 * 1024;

/** One connection of the plain lane: requests are taken off it one after the other, until Node has to go on with it. */
export class PlainConnection implements PlainCarrier {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly addressOf: ReadAddress;
  readonly #lane: Lane;
  /** What was read and is no request yet. */
  #received: Buffer | undefined;
  readonly #firstBytes: FirstBytes;
  #exchange: PlainExchange | undefined;
  /** What was answered and not sent yet. */
  #unsent = '';
  #encoding: 'latin1' | 'utf8' = 'latin1';
  #everSpoke = false;
  /** Nothing more comes, or nothing more is answered. */
  #ended = false as boolean;
  /** The last answer was given, or none is owed: what still comes must not be acted upon. */
  #closing = false as boolean;
  #advancing = false as boolean;
  /** How often the watch has come by since something happened. */
  #watched = 0;

  constructor(socket: Socket, lane: Lane) {
    this.socket = socket;
    this.clock = lane.clock;
    this.addressOf = lane.addressOf;
    this.#lane = lane;
    this.#firstBytes = new FirstBytes(lane.openings.openedAtMs());
    ignoreErrors(socket);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('drain', this.#onDrain);
    socket.on('close', this.#onClose);
  }

  isEnding(): boolean {
    return this.#lane.isEnding();
  }

  connectionLines(last: boolean): string {
    return this.#lane.connectionLines(last);
  }

  write(data: string | Buffer, encoding: 'latin1' | 'utf8'): void {
    if (typeof data !== 'string') {
      this.flush();
      this.socket.write(data);
      return;
    }
    if (this.#unsent === '') this.#lane.flushSoon(this);
    this.#unsent += data;
    if (encoding === 'utf8') this.#encoding = 'utf8';
    if (this.#unsent.length > mostUnsent) this.flush();
  }

  flush(): void {
    if (this.#unsent !== '') {
      this.socket.write(this.#unsent, this.#encoding);
      this.#firstBytes.noteAnswer(this.clock.steadyMs());
    }
    this.#unsent = '';
    this.#encoding = 'latin1';
    this.#endIfOver();
  }

  end(last: boolean): void {
    this.#exchange = undefined;
    this.#watched = 0;
    if (this.#unsent === '') this.#firstBytes.noteAnswer(this.clock.steadyMs());
    if (last) this.#stopReading();
    this.#advance();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#closing) return;
    // Sending is no sign of reading.
    if (this.socket.writableLength === 0) this.#watched = 0;
    this.#firstBytes.noteBytes(bytes.length, this.#received === undefined);
    this.#received = this.#received === undefined ? bytes : Buffer.concat([this.#received, bytes]);
    this.#advance();
    if (this.#received !== undefined && this.#received.length > mostHeld) this.socket.pause();
  };

  readonly #onDrain = (): void => {
    this.#watched = 0;
    this.#advance();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    // Whoever has said all it will may still wait for an answer; of a stream that has no end, it has had enough.
    if (this.#exchange?.isStream === true) this.socket.destroy();
    else this.#advance();
  };

  readonly #onClose = (): void => {
    this.#lane.connections.delete(this);
    this.#exchange?.leave();
  };

  /** One request after the other, as long as the caller reads its answers. In a loop, because many may have come at once. */
  #advance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    while (this.#received !== undefined && this.#exchange === undefined && !this.socket.writableNeedDrain) {
      if (!this.#takeRequest(this.#received)) break;
    }
    this.#advancing = false;
    this.#endIfOver();
  }

  #endIfOver(): void {
    const over = this.#exchange === undefined && this.#received === undefined && this.#unsent === '';
    if (this.#ended && over) closeGently(this.socket);
  }

  /** False when there is none to be taken, or none for this lane. */
  #takeRequest(bytes: Buffer): boolean {
    const request = readPlainRequest(bytes);
    if (request === undefined && !this.#ended) return false;
    if (request === undefined || request === null) {
      this.#leave();
      return false;
    }
    this.#everSpoke = true;
    this.#received = request.length === bytes.length ? undefined : bytes.subarray(request.length);
    if (this.#received === undefined && this.socket.isPaused()) this.socket.resume();
    this.#exchange = new PlainExchange(this, request, this.#firstBytes.take(this.#received?.length ?? 0));
    this.#lane.receive(this.#exchange);
    return true;
  }

  /** Node goes on with this connection. */
  #leave(): void {
    const { socket } = this;
    const received = this.#received;
    const ended = this.#ended;
    this.#received = undefined;
    this.#ended = false;
    this.flush();
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('drain', this.#onDrain);
    socket.off('close', this.#onClose);
    this.#lane.connections.delete(this);
    this.#lane.giveToNode(socket, this.#firstBytes.of(received?.length ?? 0));
    if (received !== undefined) socket.emit('data', received);
    if (ended) socket.emit('end');
    else if (socket.isPaused() && !socket.destroyed) socket.resume();
  }

  watch({ keepAliveMs, stalledMs, checkMs }: PlainTimeouts): void {
    const stillMs = this.#watched++ * checkMs;
    const { socket } = this;
    if (socket.writableLength > 0) {
      // Its caller has stopped reading.
      if (stillMs >= stalledMs) socket.destroy();
    } else if (this.#closing) {
      // Only its caller's side is still open, and `closeGently` watches that.
    } else if (this.#exchange !== undefined) {
      // All of what there was to read has been read: a stream that goes on for hours has not stood still for hours.
      this.#watched = 0;
    } else if (this.#received !== undefined || !this.#everSpoke) this.#leave();
    else if (stillMs >= keepAliveMs) this.closeIfIdle();
  }

  /** Closes the connection unless an answer is owed. A request that has not arrived as a whole is not carried out. */
  closeIfIdle(): void {
    if (this.#exchange !== undefined || this.#closing) return;
    this.#stopReading();
    this.#endIfOver();
  }

  /** From here on requests are thrown away: nobody could answer them. */
  #stopReading(): void {
    this.#received = undefined;
    this.#ended = true;
    this.#closing = true;
  }
}

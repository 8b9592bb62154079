import type { Socket } from 'node:net';
import type { Clock } from '../../platform/clock.ts';
import type { ReadAddress } from '../caller-address.ts';
import { closeGently, ignoreErrors } from '../close-gently.ts';
import type { HeldAnswer } from '../end-of-turn.ts';
import type { Exchange } from '../exchange.ts';
import type { HeadWriter } from '../head.ts';
import type { Openings } from '../openings.ts';
import { FirstBytes } from '../request/first-bytes.ts';
import { type PlainCarrier, PlainExchange } from './exchange.ts';
import { longestRequest, readPlainRequest } from './request.ts';

/** Idle limits of a connection, and how often the lane checks them. */
export interface PlainTimeouts {
  keepAliveMs: number;
  stalledMs: number;
  checkMs: number;
}

export interface PlainLaneOptions {
  clock: Clock;
  heads: HeadWriter;
  addressOf: ReadAddress;
  /** Whether every answer closes its connection. */
  isEnding: () => boolean;
  receive: (exchange: Exchange) => void;
  openings: Openings;
  /** Writes an answer at the end of the turn. */
  atEndOfTurn: (answer: HeldAnswer) => void;
  /** Hands a connection over to Node. `informedAtMs` belongs to its next request. */
  giveToNode: (socket: Socket, informedAtMs: number) => void;
  timeouts: PlainTimeouts;
}

/** Shared by all connections that our own parser reads. */
interface Lane extends PlainLaneOptions {
  /** Called when a connection ends or goes to Node. */
  onLeft: (connection: PlainConnection) => void;
}

/** Read at most one request ahead. */
const mostHeld = longestRequest;
/** Flush once this much output is buffered. */
const mostUnsent = 64 * 1024;

/** One connection of the plain lane. It takes one request after another, until it hands the connection to Node. */
export class PlainConnection implements PlainCarrier, HeldAnswer {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly addressOf: ReadAddress;
  readonly heads: HeadWriter;
  readonly #lane: Lane;
  /** Bytes read but not yet taken as a request. */
  #received: Buffer | undefined;
  readonly #firstBytes: FirstBytes;
  #exchange: PlainExchange | undefined;
  /** Answers not yet written to the socket. */
  #unsent = '';
  #encoding: 'latin1' | 'utf8' = 'latin1';
  #everSpoke = false;
  /** The caller has ended its side, or we answer nothing more. */
  #ended = false as boolean;
  /** The last answer was given, or none is owed: drop any further request. */
  #closing = false as boolean;
  #advancing = false as boolean;
  /** Timeout checks since the last activity. */
  #watched = 0;

  constructor(socket: Socket, lane: Lane) {
    this.socket = socket;
    this.clock = lane.clock;
    this.addressOf = lane.addressOf;
    this.heads = lane.heads;
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

  write(data: string | Buffer, encoding: 'latin1' | 'utf8'): void {
    if (typeof data !== 'string') {
      this.flush();
      this.socket.write(data);
      return;
    }
    if (this.#unsent === '') this.#lane.atEndOfTurn(this);
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
    // A caller that only sends may still have stopped reading.
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
    // A caller that ended its side may still wait for an answer. An endless stream stops.
    if (this.#exchange?.isStream === true) this.socket.destroy();
    else this.#advance();
  };

  readonly #onClose = (): void => {
    this.#lane.onLeft(this);
    this.#exchange?.leave();
  };

  /** Takes requests while the caller reads its answers. Loops, because many may arrive at once. */
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

  /** False when no request is complete, or Node must take it. */
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

  /** Hands this connection over to Node, which reads the bytes that we have before any that follow. */
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
    this.#lane.onLeft(this);
    const informedAtMs = this.#firstBytes.of(received?.length ?? 0);
    if (ended) this.#leaveEnded(received, informedAtMs);
    else {
      socket.pause();
      if (received !== undefined) socket.unshift(received);
      this.#lane.giveToNode(socket, informedAtMs);
      socket.resume();
    }
  }

  /** An ended stream takes no bytes back, so emit to Node's listeners what they have missed. */
  #leaveEnded(received: Buffer | undefined, informedAtMs: number): void {
    this.#lane.giveToNode(this.socket, informedAtMs);
    if (received !== undefined) this.socket.emit('data', received);
    this.socket.emit('end');
  }

  watch({ keepAliveMs, stalledMs, checkMs }: PlainTimeouts): void {
    const stillMs = this.#watched++ * checkMs;
    const { socket } = this;
    if (socket.writableLength > 0) {
      // The caller has stopped reading.
      if (stillMs >= stalledMs) socket.destroy();
    } else if (this.#closing) {
      // Only the caller's side is open, and `closeGently` limits that.
    } else if (this.#exchange !== undefined) {
      // The caller has read everything so far: a stream may last for hours.
      this.#watched = 0;
    } else if (this.#received !== undefined || !this.#everSpoke) this.#leave();
    else if (stillMs >= keepAliveMs) this.closeIfIdle();
  }

  /** Closes the connection unless it owes an answer. Drops an incomplete request. */
  closeIfIdle(): void {
    if (this.#exchange !== undefined || this.#closing) return;
    this.#stopReading();
    this.#endIfOver();
  }

  /** Drops all further requests: no answer can follow. */
  #stopReading(): void {
    this.#received = undefined;
    this.#ended = true;
    this.#closing = true;
  }
}

import type { Answered } from '../http/gate.ts';
import type { CallingApplication } from '../http/route.ts';
import type { ApiError } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { asCell, marks } from '../platform/text-rows.ts';

const { cell, none } = marks;
const noRefusal = `${none}${cell}${none}${cell}[]`;
const noWait = `${none}${cell}${none}`;

/** The cells of the last successful request. An application often repeats the same request. */
interface Usual {
  method: string;
  path: string | undefined;
  status: number;
  cells: string;
}

/**
 * Writes trace rows for `insertTraces`: what was decided and why. A row contains nothing that the caller wrote, except
 * our own ids.
 */
export class TraceWriter {
  readonly #caller: string;
  #usual: Usual | undefined;

  constructor({ applicationId, api }: CallingApplication) {
    this.#caller = `${applicationId}${cell}${api}`;
  }

  row(answered: Answered): string {
    const { decision, id, location } = answered;
    const aboutId = id !== undefined && isRecordId(id) ? id : undefined;
    const recordId = location === undefined ? aboutId : location.slice(location.lastIndexOf('/') + 1);
    const outcome = this.#outcomeOf(answered, aboutId);
    const durationMs = Math.round(answered.durationMs * 10) / 10;
    const { admitted, limits, remaining } = decision;
    const wait = admitted ? noWait : `${Math.ceil(decision.retryAfterMs / 1000)}${cell}${decision.refusedBy ?? none}`;
    return `${answered.correlationId}${outcome}${durationMs}${cell}${admitted}${cell}${limits.perMinute}${cell}${remaining}${cell}${wait}${cell}${recordId ?? none}`;
  }

  #outcomeOf(answered: Answered, aboutId: string | undefined): string {
    const { method, path, status, refusal } = answered;
    if (refusal !== undefined || aboutId !== undefined) return this.#outcome(answered, aboutId);
    const usual = this.#usual;
    if (usual !== undefined && usual.path === path && usual.status === status && usual.method === method)
      return usual.cells;
    const cells = this.#outcome(answered, undefined);
    this.#usual = { method, path, status, cells };
    return cells;
  }

  #outcome({ method, path, status, refusal }: Answered, aboutId: string | undefined): string {
    const asked = path === undefined ? none : path.replace('{id}', aboutId ?? '{id}');
    const why = refusal === undefined ? noRefusal : refusalCells(refusal);
    return ['', this.#caller, method, asked, status, why, ''].join(cell);
  }
}

function refusalCells({ status, code, message, details }: ApiError): string {
  // The caller may have chosen the name of a field.
  const told = details.map((detail) => ({ field: kept(detail.field), message: kept(detail.message) }));
  return [status === 429 ? none : code, kept(message), JSON.stringify(told)].join(cell);
}

/** The example number in our own error messages. */
const exampleNumber = '447700900123';

/** An error message may quote the refused number; the trace masks it. */
function kept(text: string): string {
  return asCell(text).replaceAll(/\d{7,}/g, (digits) =>
    digits === exampleNumber ? digits : '•'.repeat(digits.length),
  );
}

function isRecordId(text: string): boolean {
  return isId('msg', text) || isId('ver', text);
}

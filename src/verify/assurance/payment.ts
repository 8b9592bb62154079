import { Type } from 'typebox';
import type { FieldProblem } from '../../platform/errors.ts';

/** What a code confirms: the amount as the caller wrote it, and to whom. */
export interface Payment {
  amount: string;
  currency: string;
  payee: string;
}

const amountPattern = '^[0-9]{1,12}(\\.[0-9]{1,3})?$';
const amountForm = new RegExp(amountPattern);
const longestPayee = 40;
const payeeForm = /^[\p{L}\p{M}\p{N} .\-&']+$/u;
/** A dot must be followed by a space or the end, so that no phone shows a link. */
const linkForm = /\.[^ ]/;
/** The looser pattern in the API reference: without the Unicode classes of `payeeForm`. */
const payeePattern = '^[^@/:|]*$';
export const rightPayee = `1 to ${longestPayee} letters, digits, spaces and . - & ', without a link`;
const rightAmount = 'up to 12 digits, and up to 3 after a dot, as a string, like 10.00';
const rightCurrency = 'a code of ISO 4217 in use, like EUR';

/** Codes in use, by ISO 4217; none of funds, metals and tests. */
const currencies = new Set(
  `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
  COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
  IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR
  MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD
  SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG
  XOF XPF YER ZAR ZMW ZWG`.split(/\s+/),
);

const property = (pattern: string, maxLength: number, expected: string, example: string) => ({
  type: 'string' as const,
  maxLength: 1024,
  shown: { pattern, maxLength },
  expected,
  examples: [example],
});

const properties = {
  amount: property(amountPattern, 16, rightAmount, '10.00'),
  currency: property('^[A-Z]{3}$', 3, rightCurrency, 'EUR'),
  payee: property(payeePattern, longestPayee, rightPayee, 'Acme Shop'),
};
const required = ['amount', 'currency', 'payee'];

/** The payment in a request; null is the same as none. */
export const paymentToConfirm = Type.Optional(
  Type.Unsafe<Payment | null>({
    title: 'PaymentToConfirm',
    type: ['object', 'null'],
    properties,
    required,
    description: 'The payment that the code confirms. It stands in the text, and the code is bound to it.',
  }),
);

/** The payment in an answer. */
export const paymentSchema = Type.Unsafe<Payment>({
  title: 'Payment',
  type: 'object',
  properties: { amount: Type.String(), currency: Type.String(), payee: Type.String() },
  required,
  examples: [{ amount: '10.00', currency: 'EUR', payee: 'Acme Shop' }],
  description: 'The payment that the code confirms; absent for other verifications',
});

export function paymentProblems(payment: unknown): FieldProblem[] {
  if (typeof payment !== 'object' || payment === null) return [];
  const { amount, currency, payee } = payment as Record<string, unknown>;
  const problems: FieldProblem[] = [];
  const add = (field: string, isRight: boolean, right: string) => {
    if (!isRight) problems.push({ field: `payment.${field}`, message: `must be ${right}` });
  };
  if (typeof amount === 'string') add('amount', amountForm.test(amount), rightAmount);
  if (typeof currency === 'string') add('currency', currencies.has(currency), rightCurrency);
  if (typeof payee === 'string') add('payee', isPayee(payee), rightPayee);
  return problems;
}

function isPayee(payee: string): boolean {
  return (
    payee.length <= longestPayee &&
    payeeForm.test(payee) &&
    payee.trim() === payee &&
    !linkForm.test(payee) &&
    !/^www\b/i.test(payee) &&
    payee === payee.normalize('NFC')
  );
}

/** The form in rows, from which the code also derives. Amount and currency have no space, so it can be split again. */
export function toPaymentCell({ amount, currency, payee }: Payment): string {
  return `${amount} ${currency} ${payee}`;
}

export function readPaymentCell(cell: string): Payment {
  const [amount = '', currency = ''] = cell.split(' ', 2);
  return { amount, currency, payee: cell.slice(amount.length + currency.length + 2) };
}

/** 10, 10.0 and 10.00 are the same amount. */
export function isSamePayment(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a === b) return a === b;
  const [left, right] = [readPaymentCell(a), readPaymentCell(b)];
  return left.currency === right.currency && left.payee === right.payee && plain(left.amount) === plain(right.amount);
}

function plain(amount: string): string {
  const [whole = '', part = ''] = amount.split('.');
  return `${Number(whole)}.${part.replace(/0{1,3}$/, '')}`;
}

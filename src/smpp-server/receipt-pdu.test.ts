import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodePdu } from '../smpp/encode.ts';
import { findTlv, tlvTags } from '../smpp/pdu.ts';
import { toInboundPdu } from './receipt-pdu.ts';

test('a text from a phone always fits into a PDU: what no phone sends is cut', () => {
  for (const character of ['x', '€', 'ж', '😀']) {
    const fields = toInboundPdu({ from: '+447700900123', to: '80123', body: character.repeat(40_000) });
    const frame = encodePdu({ command: 'deliver_sm', status: 0, sequence: 1, ...fields });
    const payload = findTlv(fields.tlvs, tlvTags.messagePayload) ?? Buffer.alloc(0);
    assert.ok(payload.length >= 40_000 && payload.length % 2 === 0, character);
    assert.ok(frame.length < 70_000);
  }
});

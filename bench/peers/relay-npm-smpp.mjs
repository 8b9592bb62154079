// What many companies run: a relay made with the npm package smpp. It answers each submit once the text is in its memory,
// before anything is on disk.
import { randomUUID } from 'node:crypto';
import { createServer as createHttp } from 'node:http';
import smpp from 'smpp';

/**
 * Texts that wait to be passed on. When the newer are many, the older go, as if they had been: to delete the first of a
 * Map one by one would cost the relay more than all the rest.
 */
let waiting = { newer: new Map(), older: new Map() };
const most = 25_000;

smpp
  .createServer((session) => {
    session.on('bind_transceiver', (pdu) => session.send(pdu.response({ system_id: 'relay' })));
    session.on('submit_sm', (pdu) => {
      const id = randomUUID();
      if (waiting.newer.size >= most) waiting = { newer: new Map(), older: waiting.newer };
      waiting.newer.set(id, { to: pdu.destination_addr, from: pdu.source_addr, text: pdu.short_message.message });
      session.send(pdu.response({ message_id: id }));
    });
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('unbind', (pdu) => session.send(pdu.response()));
    session.on('error', () => {});
  })
  .listen(Number(process.env.SMPP_PORT), '127.0.0.1');
createHttp((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1');

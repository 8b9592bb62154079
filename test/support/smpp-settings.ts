import type { SmppSettings } from '../../src/delivery/smpp/settings.ts';

/** The default settings of a carrier on loopback, and what a test wants otherwise. */
export function settingsWith(wanted: Partial<SmppSettings> = {}): SmppSettings {
  return {
    host: '127.0.0.1',
    port: 2775,
    hosts: [],
    tls: false,
    system_id: 'heliograph',
    system_type: '',
    service_type: '',
    address_range: '',
    bind: 'transceiver',
    binds: 1,
    window: 10,
    per_second: null,
    validity: 'relative',
    utc_offset: '+00:00',
    validity_min_seconds: 0,
    tlvs: [],
    charsets: ['gsm7/0', 'ucs2/8'],
    long_messages: 'udh16',
    ton_npi: {},
    message_id: { response: 'exact', receipt: 'exact' },
    receipts: 'all',
    sniff: false,
    opt_out_replies: 'own',
    enquire_link_seconds: 30,
    response_seconds: 30,
    submit_errors: {},
    errors: null,
    ...wanted,
  };
}

// Runs Perl with Net::SMPP, as an ESME and as an SMSC. scripts/system-needs.ts gets it for the tests that import this file.
import { spawn } from 'node:child_process';
import { eventually } from '../support/eventually.ts';

/** Net::SMPP's blocking reads ignore signals of Perl's own, so the time limit is ours. */
const longestRunMs = 30_000;

/** Binds, submits one text, waits for its receipt, unbinds; prints what it got, a line each. */
const esme = String.raw`
use strict; use warnings; use Net::SMPP;
my ($port, $text, $id, $password) = @ARGV;
my ($smpp, $bind) = Net::SMPP->new_transceiver('127.0.0.1', port => $port, system_id => $id, password => $password,
  smpp_version => 0x34, interface_version => 0x34) or die "no connection";
printf "bind %d %s\n", $bind->{status}, $bind->{system_id};
my $answer = $smpp->submit_sm(source_addr_ton => 5, source_addr => 'ACME', dest_addr_ton => 1, dest_addr_npi => 1,
  destination_addr => '447700900123', registered_delivery => 1, short_message => $text);
printf "submit %d %s\n", $answer->{status}, $answer->{message_id};
my $receipt = $smpp->read_pdu();
printf "receipt %d %s %s %s\n", $receipt->{cmd}, $receipt->{esm_class}, $receipt->{source_addr}, $receipt->{short_message};
printf "tlvs %s %d\n", $receipt->{receipted_message_id} =~ s/\0$//r, unpack('C', $receipt->{message_state});
$smpp->deliver_sm_resp(seq => $receipt->{seq}, message_id => '');
my $probe = $smpp->enquire_link();
printf "enquire_link %d\n", $probe->{status};
my $unbind = $smpp->unbind();
printf "unbind %d\n", $unbind->{status};
`;

export async function runPerlEsme(
  port: number,
  text: string,
  { systemId, password } = { systemId: 'perl', password: 'secret' },
): Promise<string[]> {
  const args = ['-e', esme, '--', String(port), text, systemId, password];
  const child = spawn('perl', args, { timeout: longestRunMs, killSignal: 'SIGKILL' });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`perl ended with ${code}: ${Buffer.concat(errors)}`);
  return Buffer.concat(output).toString('latin1').trimEnd().split('\n');
}

/** Takes any bind, gives hexadecimal ids, and sends receipts that name them in decimal, without TLVs. */
const smsc = String.raw`
use strict; use warnings; use Net::SMPP; $| = 1; $SIG{CHLD} = 'IGNORE';
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34, timeout => 86400) or die "cannot listen";
printf "port %d\n", $listener->sockport;
while (1) {
  my $peer = $listener->accept or next;
  if (fork) { close $peer; next; }
  my $id = ($$ << 16) + 0xabc;
  while (my $pdu = $peer->read_pdu) {
    my $cmd = $pdu->{cmd};
    if ($cmd == 1) { $peer->bind_receiver_resp(system_id => 'perl', seq => $pdu->{seq}); }
    elsif ($cmd == 2) { $peer->bind_transmitter_resp(system_id => 'perl', seq => $pdu->{seq}); }
    elsif ($cmd == 9) { $peer->bind_transceiver_resp(system_id => 'perl', seq => $pdu->{seq}); }
    elsif ($cmd == 0x15) { $peer->enquire_link_resp(seq => $pdu->{seq}); }
    elsif ($cmd == 6) { $peer->unbind_resp(seq => $pdu->{seq}); last; }
    elsif ($cmd == 4) {
      $id++;
      printf "text %s %s %s\n", $pdu->{source_addr}, $pdu->{destination_addr}, unpack('H*', $pdu->{short_message});
      $peer->submit_sm_resp(message_id => sprintf('%x', $id), seq => $pdu->{seq});
      $peer->deliver_sm(async => 1, esm_class => 4, source_addr_ton => 1, source_addr_npi => 1,
        source_addr => $pdu->{destination_addr}, dest_addr_ton => 5, destination_addr => $pdu->{source_addr},
        short_message => "id:$id sub:001 dlvrd:001 submit date:2611160000 done date:2611160001 stat:DELIVRD err:000 Text:")
        if $pdu->{registered_delivery};
    }
  }
  exit 0;
}
`;

export interface PerlSmsc {
  port: number;
  /** The texts that arrived: from, to, and the octets in hexadecimal. */
  texts(): { from: string; to: string; octets: Buffer }[];
  stop(): Promise<void>;
}

export async function startPerlSmsc(): Promise<PerlSmsc> {
  // A group of its own: it has a process for each connection.
  const child = spawn('perl', ['-e', smsc], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('latin1');
  });
  const port = () => Number(/^port (\d+)$/m.exec(output)?.[1] ?? 0);
  await eventually('the SMSC listens', () => port() > 0);
  return {
    port: port(),
    texts: () =>
      [...output.matchAll(/^text (\S+) (\S+) ([0-9a-f]*)\n/gm)].map(([, from = '', to = '', octets = '']) => ({
        from,
        to,
        octets: Buffer.from(octets, 'hex'),
      })),
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

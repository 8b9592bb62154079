// Runs Perl with Net::SMPP. scripts/system-needs.ts gets it for the tests that import this file.
import { spawn } from 'node:child_process';

/** Net::SMPP's blocking reads ignore signals of Perl's own, so the time limit is ours. */
const longestRunMs = 30_000;

/** Binds, submits one text, waits for its receipt, unbinds; prints what it got, a line each. */
const esme = String.raw`
use strict; use warnings; use Net::SMPP;
my ($port, $text) = @ARGV;
my ($smpp, $bind) = Net::SMPP->new_transceiver('127.0.0.1', port => $port, system_id => 'perl', password => 'secret',
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

export async function runPerlEsme(port: number, text: string): Promise<string[]> {
  const child = spawn('perl', ['-e', esme, '--', String(port), text], { timeout: longestRunMs, killSignal: 'SIGKILL' });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`perl ended with ${code}: ${Buffer.concat(errors)}`);
  return Buffer.concat(output).toString('latin1').trimEnd().split('\n');
}

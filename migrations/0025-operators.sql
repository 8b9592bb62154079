-- Who may set up a second factor, where a link comes from, every sign-in, and where the service is reached.

-- Links for operators are made on the machine only. What the links of older versions were made by is known of these two.
alter table one_time_link add column from_machine boolean not null default false;
update one_time_link set from_machine = true where makes_operator or removes_second_factor;

-- Set in the session that a link of the machine has opened: until then an operator may set up a second factor in it.
alter table session add column enrols_until timestamptz;

-- The secret that replaces the confirmed one with the first right code, if that comes in time. Sealed by the key ring.
alter table second_factor add column replacement bytea, add column replacement_until timestamptz;

-- Where people reach the portal of this node. Null for nodes of older versions.
alter table node add column public_url text;

-- Every sign-in, failed or successful.
create table sign_in (
  id text primary key,
  created_at timestamptz not null,
  -- The e-mail that was given. Failures count by it, whether or not a person has it.
  email text not null,
  -- Null when no person had it. No reference: a try that is being checked may outlive the person.
  person_id text,
  address text not null,
  -- How: 'password', 'code', 'link', 'sign_up' or 'invitation'.
  way text not null,
  -- 'signed_in', 'code_needed', 'wrong_password', 'wrong_code', 'account_disabled' or 'throttled'.
  outcome text not null,
  -- Guesses without the password never push out the entries of those who had it.
  knew_password boolean not null
);
create index sign_in_email on sign_in (email, knew_password, id);
create index sign_in_address on sign_in (address, id);
create index sign_in_unknown on sign_in (id) where person_id is null;

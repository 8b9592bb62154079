-- Routes: which carriers take a text. Every version of the table is kept: explaining an old text needs the table it had.

create table route_table (
  -- From 1. The newest counts; without a row the table is empty.
  version integer primary key,
  routes jsonb not null,
  created_at timestamptz not null,
  -- The operator's account, or the command line.
  created_by text not null
);

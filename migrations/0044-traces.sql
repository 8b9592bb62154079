-- The place of a text in a sampled trace, by which its delivery goes on with it. Null without one.
alter table message add column trace text;
-- The trace of a sampled request.
alter table request_trace add column trace_id text;

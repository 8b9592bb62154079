-- The assurance profile of an application (docs/assurance.md); null for the standard.
alter table application add column assurance text;

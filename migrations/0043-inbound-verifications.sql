-- Verifications that the person's own text approves (src/verify/inbound): the number to text, and the name in the text. The rest
-- of the text derives from the id.
alter table verification add column inbound text;

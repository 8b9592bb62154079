-- Texts of verifications are found by their verification, and never listed by number or status. Without them in these
-- indexes, a start writes two entries less, and so does every later change of such a text.

drop index message_recipient;
create index message_recipient on message (application_id, api, recipient, id) where api <> 'verify';

drop index message_status;
create index message_status on message (application_id, api, status, id) where api <> 'verify';

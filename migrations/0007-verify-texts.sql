-- Nobody lists the texts of verifications by number or status: they are found by their verification. Without them here a
-- start writes two entries less, and so does every change of such a text on its way.

drop index message_recipient;
create index message_recipient on message (application_id, api, recipient, id) where api <> 'verify';

drop index message_status;
create index message_status on message (application_id, api, status, id) where api <> 'verify';

"""The records of the service, as dictionaries. Made from its OpenAPI document by `npm run docs`.

A text such as ``status`` can get new values, and a record new fields.
"""

from typing import Any, Dict, List, Optional, TypedDict, Union


FieldProblem = TypedDict(
    "FieldProblem",
    {
        # The bad field, like to or messages.0.to
        "field": str,
        # What would be right
        "message": str,
    },
)


_NewMessage = TypedDict(
    "_NewMessage",
    {
        # Destination number: a plus and 7 to 15 digits, like +447700900123; spaces, dots, hyphens and parentheses between digits are removed (at most 32 characters in all)
        "to": str,
        # 1 to 11 letters (A-Z, a-z), digits, spaces or . - _ & + with at least one letter, like ACME, or 3 to 15 digits with an optional plus, like 80123 or +447700900123
        "from": str,
        # a text of 1 to 10 segments (1530 septets in GSM-7, 670 UTF-16 units in UCS-2)
        "message": str,
    },
)
_NewMessageOptional = TypedDict(
    "_NewMessageOptional",
    {
        # Your own reference for the message
        "reference": Optional[str],
        # How long carriers try to deliver it (default: 86400)
        "validity_seconds": int,
        # RFC 3339, up to 7 days ahead; a past time sends at once
        "send_at": Optional[str],
        # Replace typographic characters with plain ones (default: false)
        "smart_encoding": bool,
        # normal, or high: goes before others, as codes do, where an operator allows it to the application (default: normal)
        "priority": str,
        # How it is sent (default: sms)
        "channel": str,
    },
    total=False,
)


class NewMessage(_NewMessage, _NewMessageOptional):
    pass


Segments = TypedDict(
    "Segments",
    {
        # Number of segments
        "count": int,
        # Character encoding of the text in the SMS
        "encoding": str,
        # Characters of the text
        "characters": int,
        # Septets or UTF-16 units that still fit into the last segment
        "remaining": int,
    },
)


DeliveryError = TypedDict(
    "DeliveryError",
    {
        # Code of the reason, for programs
        "code": str,
        # The reason in words
        "message": str,
        # Whether sending it again would fail too
        "permanent": bool,
    },
)


Message = TypedDict(
    "Message",
    {
        # Its id
        "id": str,
        # The number of the recipient
        "to": str,
        # The sender that the phone shows
        "from": str,
        # Null once the retention time is over
        "message": Optional[str],
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # The latest status
        "status": str,
        "segments": Segments,
        # Your own reference; null if you gave none
        "reference": Optional[str],
        "error": Optional[DeliveryError],
        # When it was created
        "created_at": str,
        # When it last changed
        "updated_at": str,
        # When a carrier accepted it; null before
        "sent_at": Optional[str],
        # When the phone had it; null before
        "delivered_at": Optional[str],
        # When it expires
        "expires_at": str,
        # How many times it was sent again although it may have arrived: the maximum number of further copies
        "possible_duplicates": int,
    },
)


RefusedMessageError = TypedDict(
    "RefusedMessageError",
    {
        # A code as in an error response
        "code": str,
        "message": str,
        "details": List[FieldProblem],
    },
)


RefusedMessage = TypedDict(
    "RefusedMessage",
    {
        "error": RefusedMessageError,
    },
)


MessageBatchSummary = TypedDict(
    "MessageBatchSummary",
    {
        # How many were accepted
        "accepted": int,
        # How many were refused
        "rejected": int,
    },
)


MessageBatch = TypedDict(
    "MessageBatch",
    {
        "data": List[Union[Message, RefusedMessage]],
        "summary": MessageBatchSummary,
    },
)


MessagePreviewOffender = TypedDict(
    "MessagePreviewOffender",
    {
        "character": str,
        # Its place in the text, in UTF-16 units
        "index": int,
        # What smart_encoding writes instead
        "substitute": Optional[str],
    },
)


MessagePreview = TypedDict(
    "MessagePreview",
    {
        "segments": Segments,
        # The first 100 characters that are not in GSM-7
        "offenders": List[MessagePreviewOffender],
        "with_smart_encoding": Segments,
    },
)


_InboundText = TypedDict(
    "_InboundText",
    {
        # Its id
        "id": str,
        # Your number or short code
        "to": str,
        # The number of the phone
        "from": str,
        # Null once the retention time is over
        "message": Optional[str],
        "segments": Segments,
        # The first word, if it decides which application gets the text
        "keyword": Optional[str],
        # True if some parts are missing
        "partial": bool,
        # When it arrived
        "received_at": str,
    },
)
_InboundTextOptional = TypedDict(
    "_InboundTextOptional",
    {
        # The text begins with a stop word and says more. Nothing was done
        "possible_opt_out": bool,
    },
    total=False,
)


class InboundText(_InboundText, _InboundTextOptional):
    pass


OptOut = TypedDict(
    "OptOut",
    {
        # Masked once the retention time is over
        "number": str,
        # mo: a text of the person
        "source": str,
        # What the person wrote
        "word": Optional[str],
        # When it was created
        "created_at": str,
    },
)


_AutofillOnPage = TypedDict(
    "_AutofillOnPage",
    {
        # For WebOTP: a host name with at least one dot, like example.com, without scheme, port or path, in ASCII
        "domain": str,
    },
)
_AutofillOnPageOptional = TypedDict(
    "_AutofillOnPageOptional",
    {
        # The host of the page that embeds the page of domain in a frame
        "embedded_in": Optional[str],
    },
    total=False,
)


class AutofillOnPage(_AutofillOnPage, _AutofillOnPageOptional):
    pass


AutofillInApp = TypedDict(
    "AutofillInApp",
    {
        # the 11 characters (A-Z, a-z, 0-9, + or /) of the app's hash for Android's SMS Retriever
        "android_hash": str,
    },
)


StartClient = TypedDict(
    "StartClient",
    {
        # The IP address of the person
        "ip": Optional[str],
        # The user agent of their browser or app
        "user_agent": Optional[str],
        # Your id of their device
        "device_id": Optional[str],
    },
    total=False,
)


PaymentToConfirm = TypedDict(
    "PaymentToConfirm",
    {
        # up to 12 digits, and up to 3 after a dot, as a string, like 10.00
        "amount": str,
        # a code of ISO 4217 in use, like EUR
        "currency": str,
        # 1 to 40 letters, digits, spaces and . - & ', without a link
        "payee": str,
    },
)


_NewVerification = TypedDict(
    "_NewVerification",
    {
        # Mobile number: a plus and 7 to 15 digits, like +447700900123; spaces, dots, hyphens and parentheses between digits are removed (at most 32 characters in all)
        "to": str,
    },
)
_NewVerificationOptional = TypedDict(
    "_NewVerificationOptional",
    {
        # How the code is sent; with inbound the person sends a text instead. Another channel continues a pending verification at once, with the same code.
        "channel": str,
        # Your own reference for the verification
        "reference": Optional[str],
        # Language of the text: a BCP 47 tag, like de or pt-BR
        "locale": Optional[str],
        # Digits of the code (default: 6, or those of code)
        "code_length": int,
        # A code that you made and check yourself or here. Another code replaces a pending one and is sent at once; the same code is sent again after 60 seconds.
        "code": Optional[str],
        # How long the code works (default: 600)
        "ttl_seconds": int,
        "autofill": Optional[Union[AutofillOnPage, AutofillInApp]],
        "client": Optional[StartClient],
        "payment": Optional[PaymentToConfirm],
        # Further channels for the same code while it is not entered
        "fallback": Optional[List[Any]],
    },
    total=False,
)


class NewVerification(_NewVerification, _NewVerificationOptional):
    pass


_NumberToCheck = TypedDict(
    "_NumberToCheck",
    {
        # Mobile number: a plus and 7 to 15 digits, like +447700900123; spaces, dots, hyphens and parentheses between digits are removed (at most 32 characters in all)
        "to": str,
        # the 4 to 10 digits the user entered, as a string
        "code": str,
    },
)
_NumberToCheckOptional = TypedDict(
    "_NumberToCheckOptional",
    {
        "payment": Optional[PaymentToConfirm],
    },
    total=False,
)


class NumberToCheck(_NumberToCheck, _NumberToCheckOptional):
    pass


VerificationDelivery = TypedDict(
    "VerificationDelivery",
    {
        # The status of the text
        "status": str,
        # The id of the message
        "message_id": str,
        "error": Optional[DeliveryError],
    },
)


SentCode = TypedDict(
    "SentCode",
    {
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # Its status; of a call, delivered means answered
        "status": str,
        # The id of the message
        "message_id": str,
        "error": Optional[DeliveryError],
    },
)


Payment = TypedDict(
    "Payment",
    {
        "amount": str,
        "currency": str,
        "payee": str,
    },
)


_Verification = TypedDict(
    "_Verification",
    {
        # Its id
        "id": str,
        # The number of the recipient
        "to": str,
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # All except pending are final
        "status": str,
        # The reason of the status; null while pending, and when approved
        "reason": Optional[str],
        # Digits of the code
        "code_length": int,
        # Wrong codes so far
        "attempts": int,
        # Wrong codes that are still allowed
        "attempts_remaining": int,
        # How many texts were sent for it
        "sends": int,
        # When a start can send the code again; null if it no longer can
        "resend_available_at": Optional[str],
        # When it was created
        "created_at": str,
        # When it last changed
        "updated_at": str,
        # When it expires
        "expires_at": str,
        # When the right code came; null before
        "approved_at": Optional[str],
        "delivery": Optional[VerificationDelivery],
        # Each text, call or message with the code, oldest first
        "deliveries": List[SentCode],
        # Your own reference; null if you gave none
        "reference": Optional[str],
    },
)
_VerificationOptional = TypedDict(
    "_VerificationOptional",
    {
        "payment": Payment,
        # Signed proof that the number was verified; absent once it has expired
        "proof": str,
    },
    total=False,
)


class Verification(_Verification, _VerificationOptional):
    pass


TextToReceive = TypedDict(
    "TextToReceive",
    {
        "number": str,
        # The text that the person sends
        "text": str,
    },
)


_StartedVerification = TypedDict(
    "_StartedVerification",
    {
        # Its id
        "id": str,
        # The number of the recipient
        "to": str,
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # All except pending are final
        "status": str,
        # The reason of the status; null while pending, and when approved
        "reason": Optional[str],
        # Digits of the code
        "code_length": int,
        # Wrong codes so far
        "attempts": int,
        # Wrong codes that are still allowed
        "attempts_remaining": int,
        # How many texts were sent for it
        "sends": int,
        # When a start can send the code again; null if it no longer can
        "resend_available_at": Optional[str],
        # When it was created
        "created_at": str,
        # When it last changed
        "updated_at": str,
        # When it expires
        "expires_at": str,
        # When the right code came; null before
        "approved_at": Optional[str],
        "delivery": Optional[VerificationDelivery],
        # Each text, call or message with the code, oldest first
        "deliveries": List[SentCode],
        # Your own reference; null if you gave none
        "reference": Optional[str],
        # Whether this start sent a text; false when it was blocked, or continued a verification without sending again
        "sent": bool,
    },
)
_StartedVerificationOptional = TypedDict(
    "_StartedVerificationOptional",
    {
        "payment": Payment,
        "inbound": TextToReceive,
    },
    total=False,
)


class StartedVerification(_StartedVerification, _StartedVerificationOptional):
    pass


_CheckedVerification = TypedDict(
    "_CheckedVerification",
    {
        # Its id
        "id": str,
        # The number of the recipient
        "to": str,
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # All except pending are final
        "status": str,
        # The reason of the status; null while pending, and when approved
        "reason": Optional[str],
        # Digits of the code
        "code_length": int,
        # Wrong codes so far
        "attempts": int,
        # Wrong codes that are still allowed
        "attempts_remaining": int,
        # How many texts were sent for it
        "sends": int,
        # When a start can send the code again; null if it no longer can
        "resend_available_at": Optional[str],
        # When it was created
        "created_at": str,
        # When it last changed
        "updated_at": str,
        # When it expires
        "expires_at": str,
        # When the right code came; null before
        "approved_at": Optional[str],
        "delivery": Optional[VerificationDelivery],
        # Each text, call or message with the code, oldest first
        "deliveries": List[SentCode],
        # Your own reference; null if you gave none
        "reference": Optional[str],
        # Whether the code was right
        "valid": bool,
    },
)
_CheckedVerificationOptional = TypedDict(
    "_CheckedVerificationOptional",
    {
        "payment": Payment,
        # Signed proof that the number was verified; absent once it has expired
        "proof": str,
    },
    total=False,
)


class CheckedVerification(_CheckedVerification, _CheckedVerificationOptional):
    pass


_CanceledVerification = TypedDict(
    "_CanceledVerification",
    {
        # Its id
        "id": str,
        # The number of the recipient
        "to": str,
        # How it is sent: sms, voice or whatsapp; inbound if the person sends a text
        "channel": str,
        # All except pending are final
        "status": str,
        # The reason of the status; null while pending, and when approved
        "reason": Optional[str],
        # Digits of the code
        "code_length": int,
        # Wrong codes so far
        "attempts": int,
        # Wrong codes that are still allowed
        "attempts_remaining": int,
        # How many texts were sent for it
        "sends": int,
        # When a start can send the code again; null if it no longer can
        "resend_available_at": Optional[str],
        # When it was created
        "created_at": str,
        # When it last changed
        "updated_at": str,
        # When it expires
        "expires_at": str,
        # When the right code came; null before
        "approved_at": Optional[str],
        "delivery": Optional[VerificationDelivery],
        # Each text, call or message with the code, oldest first
        "deliveries": List[SentCode],
        # Your own reference; null if you gave none
        "reference": Optional[str],
    },
)
_CanceledVerificationOptional = TypedDict(
    "_CanceledVerificationOptional",
    {
        "payment": Payment,
    },
    total=False,
)


class CanceledVerification(_CanceledVerification, _CanceledVerificationOptional):
    pass


GuardDecisionRule = TypedDict(
    "GuardDecisionRule",
    {
        # The name of the rule
        "rule": str,
        # A number, or a list of what is allowed
        "limit": Any,
        # Counting stops at 100, or at one above the limit if that is higher
        "seen": Any,
    },
)


GuardHoldOfNumber = TypedDict(
    "GuardHoldOfNumber",
    {
        # Its id
        "id": str,
        # Set if a whole country is held back
        "country": Optional[str],
        # The prefix of the held numbers
        "prefix": Optional[str],
        # Numbers that got a code
        "numbers": int,
        # Numbers whose code was entered
        "approved": int,
        # Whether this number is one of the two percent that pass
        "sample": bool,
        # Whether it passes because it was approved in the last 28 days
        "was_approved": bool,
        "began_at": str,
        "ends_at": str,
    },
)


_GuardDecision = TypedDict(
    "_GuardDecision",
    {
        # The decision for a start now
        "decision": str,
        # The reason of the status; null while pending, and when approved
        "reason": Optional[str],
        "rules": List[GuardDecisionRule],
    },
)
_GuardDecisionOptional = TypedDict(
    "_GuardDecisionOptional",
    {
        "hold": GuardHoldOfNumber,
    },
    total=False,
)


class GuardDecision(_GuardDecision, _GuardDecisionOptional):
    pass


Event = TypedDict(
    "Event",
    {
        # Also a cursor: the next page begins after it
        "id": str,
        "type": str,
        # When it happened
        "time": str,
        # Numbers the events of the record from 1
        "sequence": int,
        # The id of the record
        "subject": str,
        # The API of the record: sms, verify or messaging
        "api": Optional[str],
        # The id of the application
        "application_id": str,
        # Your own reference; null if you gave none
        "reference": Optional[str],
        # The record, as a read would show it
        "data": Dict[str, Any],
    },
)


EventPage = TypedDict(
    "EventPage",
    {
        "data": List[Event],
        # Pass it as cursor to continue
        "next_cursor": str,
    },
)


MessageFilters = TypedDict(
    "MessageFilters",
    {
        "to": str,
        "status": str,
        "reference": str,
        "limit": int,
    },
    total=False,
)


InboundFilters = TypedDict(
    "InboundFilters",
    {
        "from": str,
        "to": str,
        "limit": int,
    },
    total=False,
)


OptOutFilters = TypedDict(
    "OptOutFilters",
    {
        "to": str,
        "limit": int,
    },
    total=False,
)


VerificationFilters = TypedDict(
    "VerificationFilters",
    {
        "to": str,
        "status": str,
        "reference": str,
        "limit": int,
    },
    total=False,
)


ReportedVerification = CanceledVerification

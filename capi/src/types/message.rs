//! What the whole message has.

/// Field of a message: `id`.
pub const DELTAWIRE_M_ID: u32 = 0;
/// Field of a message: `object`, as sent.
pub const DELTAWIRE_M_OBJECT: u32 = 1;
/// Field of a message: `model`.
pub const DELTAWIRE_M_MODEL: u32 = 2;
/// Field of a message: `system_fingerprint`.
pub const DELTAWIRE_M_SYSTEM_FINGERPRINT: u32 = 3;
/// Field of a message: `service_tier`.
pub const DELTAWIRE_M_SERVICE_TIER: u32 = 4;
/// Field of a message: `provider`.
pub const DELTAWIRE_M_PROVIDER: u32 = 5;
/// Field of a message: the last `usage`, JSON, with the members of later ones that have neither
/// prompt, completion nor total. The counts of other protocols have the names of chat completions.
pub const DELTAWIRE_M_USAGE: u32 = 6;
/// Field of a message: the first error, JSON or plain text.
pub const DELTAWIRE_M_ERROR: u32 = 7;
/// Field of a message: the message of that error.
pub const DELTAWIRE_M_ERROR_MESSAGE: u32 = 8;
/// Field of a message: the code of that error.
pub const DELTAWIRE_M_ERROR_CODE: u32 = 9;
/// Field of a message: the type of that error.
pub const DELTAWIRE_M_ERROR_TYPE: u32 = 10;
/// Field of a choice: the role.
pub const DELTAWIRE_M_ROLE: u32 = 11;
/// Field of a choice: its content.
pub const DELTAWIRE_M_CONTENT: u32 = 12;
/// Field of a choice: its refusal.
pub const DELTAWIRE_M_REFUSAL: u32 = 13;
/// Field of a choice: its reasoning.
pub const DELTAWIRE_M_REASONING: u32 = 14;
/// Field of a choice: the last finish reason, in the words of chat completions, whatever the
/// protocol.
pub const DELTAWIRE_M_FINISH: u32 = 15;
/// Field of a choice: in other protocols than chat completions, the finish reason as sent; in chat
/// completions, `native_finish_reason`, OpenRouter's member for the reason of the model's own
/// provider.
pub const DELTAWIRE_M_NATIVE_FINISH: u32 = 16;
/// Field of a choice: the first error that belongs to this choice, JSON.
pub const DELTAWIRE_M_CHOICE_ERROR: u32 = 17;
/// Field of a choice: the message of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_MESSAGE: u32 = 18;
/// Field of a choice: the code of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_CODE: u32 = 19;
/// Field of a choice: the type of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_TYPE: u32 = 20;
/// Field of a choice: the name of a `function_call`.
pub const DELTAWIRE_M_FUNCTION_NAME: u32 = 21;
/// Field of a choice: the arguments of a `function_call`.
pub const DELTAWIRE_M_FUNCTION_ARGUMENTS: u32 = 22;
/// Field of a choice: the ID of its audio.
pub const DELTAWIRE_M_AUDIO_ID: u32 = 23;
/// Field of a choice: its audio, JSON: an array of the pieces as sent, each in base64. A piece may
/// have padding at its end, so decode each piece, then join the bytes.
pub const DELTAWIRE_M_AUDIO_DATA: u32 = 24;
/// Field of a choice: the transcript of its audio.
pub const DELTAWIRE_M_AUDIO_TRANSCRIPT: u32 = 25;
/// Field of a call: its ID.
pub const DELTAWIRE_M_CALL_ID: u32 = 26;
/// Field of a call: its type, as sent. Absent in other protocols than chat completions, where the
/// flag `DELTAWIRE_EVF_CUSTOM` of the call's event tells custom tools from functions.
pub const DELTAWIRE_M_CALL_TYPE: u32 = 27;
/// Field of a call: its name.
pub const DELTAWIRE_M_CALL_NAME: u32 = 28;
/// Field of a call: its arguments, or the input of a custom tool. Gemini's arguments are an object
/// as the server wrote it, with its whitespace and line breaks.
pub const DELTAWIRE_M_CALL_ARGUMENTS: u32 = 29;
/// Field of a choice: `reasoning_details`, JSON, with the fragments of each entry joined.
pub const DELTAWIRE_M_REASONING_DETAILS: u32 = 30;
/// Field of a choice: the name of the member that contained its first reasoning:
/// `reasoning_content`, `reasoning`, `thinking`, `thought` or `reasoning_text`. Absent if only
/// `reasoning_details` or parts of the content contained reasoning.
pub const DELTAWIRE_M_REASONING_NAME: u32 = 31;
/// Field of a message of another protocol than chat completions: its usage under its own names,
/// JSON.
pub const DELTAWIRE_M_NATIVE_USAGE: u32 = 32;
/// Field of a choice of another protocol: its signatures, JSON: an array.
pub const DELTAWIRE_M_SIGNATURES: u32 = 33;
/// Field of a choice of another protocol: the parts that no other field contains, JSON: an array.
pub const DELTAWIRE_M_NATIVE_CONTENT: u32 = 34;

/// Owner for `deltawire_message_member`: the chunks.
pub const DELTAWIRE_OWNER_CHUNK: u32 = 0;
/// Owner for `deltawire_message_member`: a choice.
pub const DELTAWIRE_OWNER_CHOICE: u32 = 1;
/// Owner for `deltawire_message_member`: the deltas of a choice, or its `message`.
pub const DELTAWIRE_OWNER_DELTA: u32 = 2;
/// Owner for `deltawire_message_member`: a tool call. Send its members (`extra_content` with the
/// signature of a thought) back with the call.
pub const DELTAWIRE_OWNER_CALL: u32 = 3;
/// Owner for `deltawire_message_member`: the `function` of a tool call, or its `custom` tool.
pub const DELTAWIRE_OWNER_FUNCTION: u32 = 4;
/// Owner for `deltawire_message_member`: the usage of Anthropic, merged from several events; of
/// chat completions, what usages of details added to the last one.
pub const DELTAWIRE_OWNER_USAGE: u32 = 5;

/// Flag of `deltawire_message_json`: include the members that only gateways and providers send
/// (`provider`, `native_finish_reason`, `reasoning_details`, and every unknown member), write the
/// reasoning under its name in the stream (`DELTAWIRE_M_REASONING_NAME`), and write `data` of audio
/// as an array of its pieces.
pub const DELTAWIRE_JSON_EXTENDED: u32 = 1;

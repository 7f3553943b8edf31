/* Sizes, alignments and offsets of the public structs. A compiled program relies on them, so a number here changes only
 * with DELTAWIRE_ABI, and new members come last. Compiling is the test; layout.py checks that no member is missing. */
#include "deltawire.h"

typedef struct { char first; uint64_t second; } after_char;

/* LP64; ILP32 where uint64_t is aligned to 8; ILP32 where it is aligned to 4. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define PICK(lp64, ilp32, ilp32_packed) (lp64)
#else
#define PICK(lp64, ilp32, ilp32_packed) (offsetof(after_char, second) == 8 ? (ilp32) : (ilp32_packed))
#endif
#define SIZE(type, a, b, c) _Static_assert(sizeof(type) == PICK(a, b, c), "size of " #type)
#define ALIGN(type, a, b, c) \
    typedef struct { char first; type second; } after_char_##type; \
    _Static_assert(offsetof(after_char_##type, second) == PICK(a, b, c), "alignment of " #type)
#define OFFSET(type, member, a, b, c) \
    _Static_assert(offsetof(type, member) == PICK(a, b, c), "offset of " #type "." #member)

SIZE(deltawire_config, 64, 64, 64);
ALIGN(deltawire_config, 8, 8, 4);
OFFSET(deltawire_config, size, 0, 0, 0);
OFFSET(deltawire_config, mode, 4, 4, 4);
OFFSET(deltawire_config, flags, 8, 8, 8);
OFFSET(deltawire_config, max_depth, 12, 12, 12);
OFFSET(deltawire_config, events, 16, 16, 16);
OFFSET(deltawire_config, errors, 24, 24, 24);
OFFSET(deltawire_config, max_event_len, 40, 40, 40);
OFFSET(deltawire_config, protocol, 44, 44, 44);
OFFSET(deltawire_config, max_id_len, 48, 48, 48);
OFFSET(deltawire_config, read_len, 52, 52, 52);
OFFSET(deltawire_config, max_choices, 56, 56, 56);
OFFSET(deltawire_config, max_tool_calls, 60, 60, 60);

SIZE(deltawire_str, 16, 8, 8);
ALIGN(deltawire_str, 8, 4, 4);
OFFSET(deltawire_str, ptr, 0, 0, 0);
OFFSET(deltawire_str, len, 8, 4, 4);

SIZE(deltawire_at, 72, 64, 60);
ALIGN(deltawire_at, 8, 8, 4);
OFFSET(deltawire_at, size, 0, 0, 0);
OFFSET(deltawire_at, kind, 4, 4, 4);
OFFSET(deltawire_at, flags, 8, 8, 8);
OFFSET(deltawire_at, choice, 12, 12, 12);
OFFSET(deltawire_at, call, 16, 16, 16);
OFFSET(deltawire_at, code, 20, 20, 20);
OFFSET(deltawire_at, number, 24, 24, 24);
OFFSET(deltawire_at, start, 32, 32, 32);
OFFSET(deltawire_at, end, 40, 40, 40);
OFFSET(deltawire_at, chunk, 48, 48, 48);
OFFSET(deltawire_at, event_name, 56, 52, 52);

SIZE(deltawire_value, 24, 16, 16);
ALIGN(deltawire_value, 8, 4, 4);
OFFSET(deltawire_value, ptr, 0, 0, 0);
OFFSET(deltawire_value, len, 8, 4, 4);
OFFSET(deltawire_value, type, 16, 8, 8);
OFFSET(deltawire_value, reserved, 20, 12, 12);

SIZE(deltawire_callbacks, 280, 140, 140);
ALIGN(deltawire_callbacks, 8, 4, 4);
OFFSET(deltawire_callbacks, size, 0, 0, 0);
OFFSET(deltawire_callbacks, on_sse, 8, 4, 4);
OFFSET(deltawire_callbacks, on_comment, 16, 8, 8);
OFFSET(deltawire_callbacks, on_keep_alive, 24, 12, 12);
OFFSET(deltawire_callbacks, on_retry, 32, 16, 16);
OFFSET(deltawire_callbacks, on_last_event_id, 40, 20, 20);
OFFSET(deltawire_callbacks, on_chunk, 48, 24, 24);
OFFSET(deltawire_callbacks, on_role, 56, 28, 28);
OFFSET(deltawire_callbacks, on_content, 64, 32, 32);
OFFSET(deltawire_callbacks, on_reasoning, 72, 36, 36);
OFFSET(deltawire_callbacks, on_refusal, 80, 40, 40);
OFFSET(deltawire_callbacks, on_tool_call, 88, 44, 44);
OFFSET(deltawire_callbacks, on_tool_name, 96, 48, 48);
OFFSET(deltawire_callbacks, on_tool_arguments, 104, 52, 52);
OFFSET(deltawire_callbacks, on_function_name, 112, 56, 56);
OFFSET(deltawire_callbacks, on_function_arguments, 120, 60, 60);
OFFSET(deltawire_callbacks, on_audio, 128, 64, 64);
OFFSET(deltawire_callbacks, on_logprobs, 136, 68, 68);
OFFSET(deltawire_callbacks, on_finish, 144, 72, 72);
OFFSET(deltawire_callbacks, on_choice_error, 152, 76, 76);
OFFSET(deltawire_callbacks, on_usage, 160, 80, 80);
OFFSET(deltawire_callbacks, on_error, 168, 84, 84);
OFFSET(deltawire_callbacks, on_malformed, 176, 88, 88);
OFFSET(deltawire_callbacks, on_too_long, 184, 92, 92);
OFFSET(deltawire_callbacks, on_comment_too_long, 192, 96, 96);
OFFSET(deltawire_callbacks, on_limit, 200, 100, 100);
OFFSET(deltawire_callbacks, on_quirk, 208, 104, 104);
OFFSET(deltawire_callbacks, on_done, 216, 108, 108);
OFFSET(deltawire_callbacks, on_frame, 224, 112, 112);
OFFSET(deltawire_callbacks, on_meta, 232, 116, 116);
OFFSET(deltawire_callbacks, on_annotations, 240, 120, 120);
OFFSET(deltawire_callbacks, on_signature, 248, 124, 124);
OFFSET(deltawire_callbacks, on_media, 256, 128, 128);
OFFSET(deltawire_callbacks, on_native, 264, 132, 132);
OFFSET(deltawire_callbacks, on_tool_call_end, 272, 136, 136);

SIZE(deltawire_event, 64, 64, 64);
ALIGN(deltawire_event, 8, 8, 4);
OFFSET(deltawire_event, kind, 0, 0, 0);
OFFSET(deltawire_event, flags, 2, 2, 2);
OFFSET(deltawire_event, choice, 4, 4, 4);
OFFSET(deltawire_event, call, 8, 8, 8);
OFFSET(deltawire_event, code, 12, 12, 12);
OFFSET(deltawire_event, number, 16, 16, 16);
OFFSET(deltawire_event, text_off, 24, 24, 24);
OFFSET(deltawire_event, text_len, 28, 28, 28);
OFFSET(deltawire_event, aux_off, 32, 32, 32);
OFFSET(deltawire_event, aux_len, 36, 36, 36);
OFFSET(deltawire_event, extra_off, 40, 40, 40);
OFFSET(deltawire_event, extra_len, 44, 44, 44);
OFFSET(deltawire_event, start, 48, 48, 48);
OFFSET(deltawire_event, end, 56, 56, 56);

SIZE(deltawire_batch_result, 32, 16, 16);
ALIGN(deltawire_batch_result, 8, 4, 4);
OFFSET(deltawire_batch_result, consumed, 0, 0, 0);
OFFSET(deltawire_batch_result, events, 8, 4, 4);
OFFSET(deltawire_batch_result, scratch_used, 16, 8, 8);
OFFSET(deltawire_batch_result, scratch_need, 24, 12, 12);

SIZE(deltawire_end, 200, 200, 200);
ALIGN(deltawire_end, 8, 8, 4);
OFFSET(deltawire_end, size, 0, 0, 0);
OFFSET(deltawire_end, verdict, 4, 4, 4);
OFFSET(deltawire_end, pending, 8, 8, 8);
OFFSET(deltawire_end, choices_seen, 12, 12, 12);
OFFSET(deltawire_end, choices_finished, 16, 16, 16);
OFFSET(deltawire_end, malformed, 20, 20, 20);
OFFSET(deltawire_end, too_long, 24, 24, 24);
OFFSET(deltawire_end, done, 28, 28, 28);
OFFSET(deltawire_end, api_error, 29, 29, 29);
OFFSET(deltawire_end, body, 30, 30, 30);
OFFSET(deltawire_end, finished, 31, 31, 31);
OFFSET(deltawire_end, offset, 32, 32, 32);
OFFSET(deltawire_end, left_out, 40, 40, 40);
OFFSET(deltawire_end, complete, 44, 44, 44);
OFFSET(deltawire_end, media, 48, 48, 48);
OFFSET(deltawire_end, protocol, 52, 52, 52);
OFFSET(deltawire_end, replaced, 56, 56, 56);
OFFSET(deltawire_end, broken_calls, 60, 60, 60);
OFFSET(deltawire_end, limits, 64, 64, 64);
OFFSET(deltawire_end, first_len, 68, 68, 68);
OFFSET(deltawire_end, first_bytes, 72, 72, 72);

SIZE(deltawire_usage, 88, 88, 88);
ALIGN(deltawire_usage, 8, 8, 4);
OFFSET(deltawire_usage, size, 0, 0, 0);
OFFSET(deltawire_usage, has, 4, 4, 4);
OFFSET(deltawire_usage, prompt, 8, 8, 8);
OFFSET(deltawire_usage, completion, 16, 16, 16);
OFFSET(deltawire_usage, total, 24, 24, 24);
OFFSET(deltawire_usage, reasoning, 32, 32, 32);
OFFSET(deltawire_usage, cached, 40, 40, 40);
OFFSET(deltawire_usage, prompt_audio, 48, 48, 48);
OFFSET(deltawire_usage, completion_audio, 56, 56, 56);
OFFSET(deltawire_usage, accepted_prediction, 64, 64, 64);
OFFSET(deltawire_usage, rejected_prediction, 72, 72, 72);
OFFSET(deltawire_usage, cache_write, 80, 80, 80);

SIZE(deltawire_token, 24, 24, 24);
ALIGN(deltawire_token, 8, 8, 4);
OFFSET(deltawire_token, event, 0, 0, 0);
OFFSET(deltawire_token, offset, 8, 8, 8);
OFFSET(deltawire_token, kind, 16, 16, 16);
OFFSET(deltawire_token, reserved, 20, 20, 20);

SIZE(deltawire_amount, 16, 16, 16);
ALIGN(deltawire_amount, 8, 8, 4);
OFFSET(deltawire_amount, bytes, 0, 0, 0);
OFFSET(deltawire_amount, chars, 8, 8, 8);

SIZE(deltawire_meter, 616, 512, 512);
ALIGN(deltawire_meter, 8, 8, 4);
OFFSET(deltawire_meter, size, 0, 0, 0);
OFFSET(deltawire_meter, finish, 4, 4, 4);
OFFSET(deltawire_meter, first, 8, 8, 8);
OFFSET(deltawire_meter, last, 32, 32, 32);
OFFSET(deltawire_meter, events, 56, 56, 56);
OFFSET(deltawire_meter, token_events, 64, 64, 64);
OFFSET(deltawire_meter, content, 72, 72, 72);
OFFSET(deltawire_meter, reasoning, 88, 88, 88);
OFFSET(deltawire_meter, refusal, 104, 104, 104);
OFFSET(deltawire_meter, arguments, 120, 120, 120);
OFFSET(deltawire_meter, calls, 136, 136, 136);
OFFSET(deltawire_meter, names, 140, 140, 140);
OFFSET(deltawire_meter, call_names, 144, 144, 144);
OFFSET(deltawire_meter, model, 272, 208, 208);
OFFSET(deltawire_meter, id, 288, 216, 216);
OFFSET(deltawire_meter, finish_reason, 304, 224, 224);
OFFSET(deltawire_meter, error, 320, 232, 232);
OFFSET(deltawire_meter, usage, 336, 240, 240);
OFFSET(deltawire_meter, iterations, 424, 328, 328);
OFFSET(deltawire_meter, other_iterations, 512, 416, 416);
OFFSET(deltawire_meter, tool_usage, 600, 504, 504);

SIZE(deltawire_chunk_storage, 832, 832, 832);
ALIGN(deltawire_chunk_storage, 8, 8, 4);
OFFSET(deltawire_chunk_storage, opaque, 0, 0, 0);

SIZE(deltawire_decimal, 16, 16, 16);
ALIGN(deltawire_decimal, 8, 8, 4);
OFFSET(deltawire_decimal, digits, 0, 0, 0);
OFFSET(deltawire_decimal, exp10, 8, 8, 8);
OFFSET(deltawire_decimal, negative, 12, 12, 12);
OFFSET(deltawire_decimal, exact, 13, 13, 13);
OFFSET(deltawire_decimal, reserved, 14, 14, 14);

SIZE(deltawire_writer_config, 88, 64, 64);
ALIGN(deltawire_writer_config, 8, 8, 4);
OFFSET(deltawire_writer_config, size, 0, 0, 0);
OFFSET(deltawire_writer_config, protocol, 4, 4, 4);
OFFSET(deltawire_writer_config, flags, 8, 8, 8);
OFFSET(deltawire_writer_config, text_len, 12, 12, 12);
OFFSET(deltawire_writer_config, retry, 16, 16, 16);
OFFSET(deltawire_writer_config, reserved, 20, 20, 20);
OFFSET(deltawire_writer_config, created, 24, 24, 24);
OFFSET(deltawire_writer_config, first_sequence, 32, 32, 32);
OFFSET(deltawire_writer_config, id, 40, 40, 40);
OFFSET(deltawire_writer_config, model, 56, 48, 48);
OFFSET(deltawire_writer_config, members, 72, 56, 56);

int layout_is_checked(void);
int layout_is_checked(void) { return 1; }

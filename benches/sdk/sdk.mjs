// The official SDKs for JavaScript, as contenders: `openai`, `@anthropic-ai/sdk` and `@google/genai`, whose `fetch` answers from
// memory. Commands and answers are those of src/contenders/child.rs.
//
// The time is that of the whole process on the processor, including the threads of the compiler and the collector, from the moment
// `fetch` is called until the stream has been read. It excludes sockets and TLS.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

let response, slice, began;

/// Answers each request with `response`, in slices.
globalThis.fetch = async () => {
  began = process.cpuUsage();
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (at >= response.length) return controller.close();
      controller.enqueue(response.subarray(at, at + slice));
      at += slice;
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const openai = new OpenAI({ apiKey: "none" });
const anthropic = new Anthropic({ apiKey: "none" });
const google = new GoogleGenAI({ apiKey: "none" });

/// Like `Sink` of src/work.rs.
class Sink {
  events = 0;
  choices = 0;
  calls = 0;
  tokens = 0;
  text = 0;
  hash = 0n;
  content = "";
  arguments = "";
  names = "";

  call(index) {
    this.choices += 1;
    this.calls += index + 1;
  }
  name(text) {
    if (!text) return;
    this.choices += 1;
    this.names += text;
  }
  callName(index, text) {
    if (!text) return;
    this.call(index);
    this.names += text;
  }
  usage(prompt, completion, total) {
    this.tokens += (prompt ?? 0) + (completion ?? 0) + (total ?? 0);
  }
  end(check) {
    for (const text of check ? [this.content, "", this.arguments, this.names] : []) {
      const bytes = Buffer.from(text);
      this.text += bytes.length;
      let hash = this.hash ^ 0xcbf29ce484222325n;
      for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
      this.hash = hash ^ BigInt(bytes.length);
    }
    this.content = this.arguments = this.names = "";
  }
}

async function chat(sink) {
  for await (const chunk of await openai.chat.completions.create({ model: "any", messages: [], stream: true })) {
    sink.events += 1;
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (delta.content) {
        sink.choices += index + 1;
        sink.content += delta.content;
      }
      for (const call of delta.tool_calls ?? []) {
        sink.callName(call.index, call.id);
        sink.callName(call.index, call.function.name);
        if (call.function.arguments) {
          sink.call(call.index);
          sink.arguments += call.function.arguments;
        }
      }
      sink.name(finish_reason);
    }
    const { usage } = chunk;
    if (usage) sink.usage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens);
  }
}

async function responses(sink) {
  for await (const event of await openai.responses.create({ model: "any", input: "", stream: true })) {
    sink.events += 1;
    switch (event.type) {
      case "response.output_text.delta":
        sink.choices += 1;
        sink.content += event.delta;
        break;
      case "response.function_call_arguments.delta":
        sink.call(event.output_index);
        sink.arguments += event.delta;
        break;
      case "response.output_item.added":
        if (event.item.type !== "function_call") break;
        sink.callName(event.output_index, event.item.call_id);
        sink.callName(event.output_index, event.item.name);
        break;
      case "response.completed": {
        const { status, usage } = event.response;
        sink.name(status);
        sink.usage(usage.input_tokens, usage.output_tokens, usage.total_tokens);
      }
    }
  }
}

async function messages(sink) {
  for await (const event of await anthropic.messages.create({ model: "any", messages: [], max_tokens: 1, stream: true })) {
    sink.events += 1;
    switch (event.type) {
      case "content_block_delta":
        if (event.delta.type === "text_delta") {
          sink.choices += 1;
          sink.content += event.delta.text;
        } else {
          sink.call(event.index);
          sink.arguments += event.delta.partial_json;
        }
        break;
      case "content_block_start":
        if (event.content_block.type !== "tool_use") break;
        sink.callName(event.index, event.content_block.id);
        sink.callName(event.index, event.content_block.name);
        break;
      case "message_start": {
        const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = event.message.usage;
        const prompt = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
        sink.usage(prompt, output_tokens, prompt + output_tokens);
        break;
      }
      case "message_delta":
        sink.name(event.delta.stop_reason);
        sink.usage(0, event.usage.output_tokens, 0);
    }
  }
}

async function gemini(sink) {
  for await (const chunk of await google.models.generateContentStream({ model: "any", contents: "any" })) {
    sink.events += 1;
    for (const { content, finishReason } of chunk.candidates ?? []) {
      for (const { text } of content?.parts ?? []) {
        if (!text) continue;
        sink.choices += 1;
        sink.content += text;
      }
      sink.name(finishReason);
    }
    const usage = chunk.usageMetadata;
    if (usage) sink.usage(usage.promptTokenCount, usage.candidatesTokenCount, usage.totalTokenCount);
  }
}

function load(path) {
  const file = readFileSync(path);
  const found = [];
  for (let at = 0; at < file.length; ) {
    const end = at + 8 + Number(file.readBigUInt64LE(at));
    found.push(file.subarray(at + 8, end));
    at = end;
  }
  return found;
}

const readBy = { responses, anthropic: messages, gemini };
const inputs = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const [what, path, size] = line.split("\t");
  if (!inputs.has(path)) inputs.set(path, load(path));
  const read = readBy[basename(path, ".sse").split("-")[0]] ?? chat;
  const sink = new Sink();
  let took = 0;
  for (response of inputs.get(path)) {
    slice = Number(size);
    await read(sink);
    const { user, system } = process.cpuUsage(began);
    took += (user + system) * 1000;
    sink.end(what === "check");
  }
  const { events, choices, calls, tokens, text, hash } = sink;
  console.log(`${took} ${events} ${choices} ${calls} ${tokens} ${text} ${hash}`);
}
